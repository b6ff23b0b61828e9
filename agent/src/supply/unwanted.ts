/**
 * What the hub has withdrawn, and what of it stays all the same: something that a deployment here still names, such as
 * one that the hub has lost with what it knew, or one whose new content is still on its way. It goes when none does.
 */
import type { ObjectRef } from "@flotilla/proto/messages.ts";
import { formatObjectRef } from "@flotilla/shared/api/bundle-deployment.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import type { Namers } from "./namers.ts";
import type { Supplies } from "./supplies.ts";

export interface Unwanted {
  /** Forgets it, now or as soon as nothing here names it. */
  drop(ref: ObjectRef): Promise<void>;
  /** It is wanted after all. */
  forget(ref: ObjectRef): void;
  /** To be called when a deployment is gone, or names something else. */
  dropFree(): Promise<void>;
}

export interface UnwantedDeps {
  readonly supplies: Pick<Supplies, "drop">;
  readonly namers: Pick<Namers, "of">;
  readonly log: Log;
}

export function createUnwanted({ supplies, namers, log }: UnwantedDeps): Unwanted {
  const waiting = new Map<string, ObjectRef>();

  async function drop(ref: ObjectRef): Promise<void> {
    const key = formatObjectRef(ref);
    waiting.set(key, ref);
    const [namer] = await namers.of(ref);
    // It was sent anew meanwhile.
    if (!waiting.has(key)) return;
    if (namer !== undefined) {
      log.info(
        { supply: key, deployment: namer },
        "withdrawn supply stays for as long as a deployment here names it",
      );
      return;
    }
    waiting.delete(key);
    await supplies.drop(ref);
  }

  return {
    drop,
    forget: (ref) => void waiting.delete(formatObjectRef(ref)),
    async dropFree() {
      for (const ref of [...waiting.values()]) await drop(ref);
    },
  };
}
