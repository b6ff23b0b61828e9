/** An API server whose watches can be held back, as over a bad network, while everything else is answered. */
import type { KubeRest } from "@flotilla/shared/kube/rest.ts";

export interface SlowWatch {
  readonly slow: KubeRest;
  /** No watch tells anything until what this gives is called. */
  hold(): () => void;
}

export function slowWatch(rest: KubeRest): SlowWatch {
  let gate: Promise<void> = Promise.resolve();
  return {
    slow: {
      ...rest,
      async *watch(resource, options) {
        for await (const event of rest.watch(resource, options)) {
          await gate;
          yield event;
        }
      },
    },
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return resolve;
    },
  };
}
