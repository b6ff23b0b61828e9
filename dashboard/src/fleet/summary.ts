/** What the overview says about the fleet. Pure. */
import { type AnyState, byUrgency, lookOf } from "../state/index.ts";
import type { Concern } from "./concern.ts";
import type { AwaitedDecision } from "./decisions.ts";
import type { FleetState } from "./fleet-state.ts";

export interface StateCount {
  readonly state: AnyState;
  readonly count: number;
}

interface Stated {
  readonly state: AnyState;
}

/** From the state that needs attention most; states without any are left out. */
export function countStates(all: Iterable<Stated>): readonly StateCount[] {
  const counts = new Map<AnyState, number>();
  for (const { state } of all) counts.set(state, (counts.get(state) ?? 0) + 1);
  return [...counts]
    .map(([state, count]) => ({ state, count }))
    .sort((one, other) => byUrgency(one.state, other.state));
}

/** The answer to "is everything all right?". */
export function headline(
  { apps, clusters }: FleetState,
  concerns: readonly Concern[],
  decisions: readonly AwaitedDecision[],
): string {
  const fleet = `${plural(apps.size, "app")} on ${plural(clusters.size, "cluster")}`;
  if (apps.size === 0 && clusters.size === 0)
    return "Nothing is here yet, or nothing that you may list";
  if (concerns.length > 0)
    return `${plural(concerns.length, "thing")} ${concerns.length === 1 ? "needs" : "need"} attention, of ${fleet}`;
  if (decisions.length > 0)
    return `${plural(decisions.length, "rollout")} ${decisions.length === 1 ? "needs" : "need"} a decision, on ${fleet}`;
  const unfinished = [...apps.values()].filter(({ state }) => lookOf(state).tone !== "good");
  const suspended = unfinished.filter((app) => app.suspended).length;
  const changing = unfinished.length - suspended;
  if (changing > 0) return `${plural(changing, "change")} in progress, on ${fleet}; nothing failed`;
  if (suspended > 0)
    return `Nothing failed: ${fleet}; ${plural(suspended, "change")} ${suspended === 1 ? "waits" : "wait"} until somebody resumes what is suspended`;
  return `All is well: ${fleet}, all ready`;
}

export function plural(count: number, word: string): string {
  return `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
}
