/** A client whose watches can be delayed, as over a bad network, while all other requests are served. */
import { once } from "node:events";
import type { KubeRest } from "@flotilla/shared/kube/client";

export interface SlowWatch {
  readonly slow: KubeRest;
  /** Watches deliver nothing until the returned function is called. */
  hold(): () => void;
}

export function slowWatch(rest: KubeRest): SlowWatch {
  let gate: Promise<unknown> | undefined;
  return {
    slow: {
      ...rest,
      async *watch(resource, options) {
        const { signal } = options;
        for await (const event of rest.watch(resource, options)) {
          if (gate !== undefined) await Promise.race([gate, ended(signal)]);
          if (signal?.aborted === true) return;
          yield event;
        }
      },
    },
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return () => {
        gate = undefined;
        resolve();
      };
    },
  };
}

async function ended(signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted === false) await once(signal, "abort");
}
