/** How much harm it does that something is not as it should be: what needs attention is ordered by it. Pure. */
import type { AnyState } from "../state/index.ts";

/** From the worst. */
export const harms = ["down", "unchanged", "never"] as const;

/**
 * `down`: what ran does not run, or cannot be reached. `unchanged`: it runs as before, but a change does not get through, or somebody
 * has changed it. `never`: it has never run, so nobody misses it yet.
 */
export type Harm = (typeof harms)[number];

/** `hasRun`: whether anything of it is installed, or was read. */
export function harmOf(state: AnyState, hasRun: boolean): Harm {
  switch (state) {
    case "Offline":
    case "NotReady":
      return "down";
    case "ErrApplied":
      return hasRun ? "down" : "never";
    default:
      return hasRun ? "unchanged" : "never";
  }
}

export function byHarm(one: Harm, other: Harm): number {
  return harms.indexOf(one) - harms.indexOf(other);
}
