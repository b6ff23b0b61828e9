/**
 * What the hub has withdrawn, and what of it stays all the same: something that a deployment here still names, such as
 * one that the hub has lost with what it knew. It goes with that deployment.
 */
import type { SupplyRef } from "@flotilla/proto/messages.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import { supplyKey } from "@flotilla/shared/supply/supply.ts";
import type { Namers } from "./namers.ts";
import type { Supplies } from "./supplies.ts";

export interface Unwanted {
  /** Forgets it, now or as soon as nothing here names it. */
  drop(ref: SupplyRef): Promise<void>;
  /** It is wanted after all. */
  forget(ref: SupplyRef): void;
  /** To be called when a deployment is gone. */
  dropFree(): Promise<void>;
}

export interface UnwantedDeps {
  readonly supplies: Pick<Supplies, "drop">;
  readonly namers: Pick<Namers, "of">;
  readonly log: Log;
}

export function createUnwanted({ supplies, namers, log }: UnwantedDeps): Unwanted {
  const waiting = new Map<string, SupplyRef>();

  async function drop(ref: SupplyRef): Promise<void> {
    const [namer] = await namers.of(ref);
    if (namer !== undefined) {
      waiting.set(supplyKey(ref), ref);
      log.info(
        { supply: supplyKey(ref), deployment: namer },
        "withdrawn supply stays for a deployment that the hub does not know",
      );
      return;
    }
    waiting.delete(supplyKey(ref));
    await supplies.drop(ref);
  }

  return {
    drop,
    forget: (ref) => void waiting.delete(supplyKey(ref)),
    async dropFree() {
      for (const ref of [...waiting.values()]) await drop(ref);
    },
  };
}
