/** From changes as agents have made them to their arrival at viewers. Pure. */
import type { SeenMessage } from "./viewers.ts";

export interface MadeChange {
  /** ms since 1970. */
  readonly atMs: number;
  readonly app: string;
  /** `NAMESPACE/NAME`. */
  readonly cluster: string;
  readonly isReady: boolean;
}

export interface Latencies {
  /** Each change at each viewer, ms, sorted. */
  readonly all: readonly number[];
  /** Changes that did not arrive at all viewers. */
  readonly missing: number;
}

/** `messages`: in the order of their first arrival. */
export function latenciesOf(
  made: readonly MadeChange[],
  messages: readonly SeenMessage[],
  viewers: number,
): Latencies {
  const seen = Map.groupBy(
    messages.flatMap(({ releases, arrivedMs }) =>
      releases.map((release) => ({ key: keyOf(release), arrivedMs })),
    ),
    ({ key }) => key,
  );
  const all: number[] = [];
  let missing = 0;
  for (const change of made) {
    let arrivals = 0;
    // A viewer that is behind gets it in a later message, with other changes.
    for (const { arrivedMs } of seen.get(keyOf(change)) ?? []) {
      // The same release was in the same state before, long ago.
      if ((arrivedMs[0] ?? 0) < change.atMs) continue;
      if (arrivals >= viewers) break;
      arrivals += arrivedMs.length;
      for (const atMs of arrivedMs) all.push(atMs - change.atMs);
    }
    if (arrivals < viewers) missing += 1;
  }
  return { all: all.sort((one, other) => one - other), missing };
}

function keyOf({ app, cluster, isReady }: Omit<MadeChange, "atMs">): string {
  return `${cluster} ${app} ${isReady}`;
}
