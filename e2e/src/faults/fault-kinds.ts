/** The kinds of fault that can be done to a fleet, how often each really happened, and which comes next. */
import type { Random } from "./random.ts";

export const faultKinds = [
  "kill -9 of a replica of the hub",
  "kill -9 of the leader",
  "kill -9 of an agent",
  "kill -9 of the hub's API server",
  "kill -9 of the hub's etcd",
  "all connections are cut",
  "all connections are cut again and again",
  "what agents send has an end",
  "what the hub sends has an end",
  "nothing goes through",
  "nothing of the agents goes through",
  "nothing of the hub goes through",
  "everything is late",
] as const;

export type FaultKind = (typeof faultKinds)[number];

export interface FaultTally {
  /** One has happened: something that was there was broken. */
  add(kind: FaultKind): void;
  readonly total: number;
  /** Those that have not happened yet. */
  readonly missing: readonly FaultKind[];
  /** One line for each kind. */
  told(): string;
}

export function createFaultTally(): FaultTally {
  const times = new Map<FaultKind, number>();
  const timesOf = (kind: FaultKind): number => times.get(kind) ?? 0;
  return {
    add: (kind) => void times.set(kind, timesOf(kind) + 1),
    get total() {
      return [...times.values()].reduce((sum, each) => sum + each, 0);
    },
    get missing() {
      return faultKinds.filter((kind) => timesOf(kind) === 0);
    },
    told: () => faultKinds.map((kind) => `${kind}: ${timesOf(kind)}`).join("\n"),
  };
}

export interface Weighted {
  readonly kind: FaultKind;
  readonly weight: number;
}

/** One of those that are possible: while there are some of a kind that is missing one of these, then as they weigh. */
export function nextFault<T extends Weighted>(
  possible: readonly T[],
  missing: readonly FaultKind[],
  random: Random,
): T | undefined {
  if (possible.length === 0) return undefined;
  const first = possible.filter(({ kind }) => missing.includes(kind));
  const choices =
    first.length > 0
      ? first
      : possible.flatMap((fault) => Array.from({ length: fault.weight }, () => fault));
  return random.pick(choices);
}
