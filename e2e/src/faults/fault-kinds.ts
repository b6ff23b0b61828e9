/** The kinds of faults, how often each was injected, and which comes next. */
import type { Random } from "./random.ts";

export const faultKinds = [
  "kill -9 of a replica of the hub",
  "kill -9 of the leader",
  "kill -9 of an agent",
  "kill -9 of the hub's API server",
  "kill -9 of the hub's etcd",
  "all connections are cut",
  "all connections are cut repeatedly",
  "agents close their half of the connections",
  "the hub closes its half of the connections",
  "all bytes are dropped",
  "bytes of the agents are dropped",
  "bytes of the hub are dropped",
  "all bytes are delayed",
] as const;

export type FaultKind = (typeof faultKinds)[number];

export interface FaultCounts {
  /** One was injected. */
  add(kind: FaultKind): void;
  readonly total: number;
  /** Kinds that were not injected yet. */
  readonly missing: readonly FaultKind[];
  /** One line for each kind. */
  text(): string;
}

export function createFaultCounts(): FaultCounts {
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
    text: () => faultKinds.map((kind) => `${kind}: ${timesOf(kind)}`).join("\n"),
  };
}

export interface Weighted {
  readonly kind: FaultKind;
  readonly weight: number;
}

/** One of the possible ones: of a kind that is missing, if there is any, else at random by weight. */
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
