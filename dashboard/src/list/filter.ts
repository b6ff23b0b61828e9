/** What a list shows, as its address has it. Pure. */

import { type AnyState, byUrgency, suspendedChip } from "../state/index.ts";
import { matchesText } from "../text/index.ts";
import { parseSelector } from "./selector.ts";

/** A row of a list, with what it can be found by. */
export interface Listed {
  readonly namespace: string;
  readonly name: string;
  readonly state: AnyState;
  readonly labels: Readonly<Record<string, string>>;
  /** More texts: the chart, the version, the message. */
  readonly texts: readonly string[];
}

export interface Filter {
  /** Words, all of which occur. */
  readonly text: string;
  /** As for `kubectl get -l`; "": all. */
  readonly labels: string;
  readonly namespace: string;
}

/** The worst first, then by name. */
export function filtered<T extends Listed>(all: Iterable<T>, filter: Filter): readonly T[] {
  const { matches: hasLabels } = parseSelector(filter.labels);
  return [...all]
    .filter(
      (row) =>
        (filter.namespace === "" || row.namespace === filter.namespace) &&
        hasLabels(row.labels) &&
        matchesText([row.name, row.namespace, ...row.texts], filter.text),
    )
    .sort((one, other) => byUrgency(one.state, other.state) || one.name.localeCompare(other.name));
}

export interface Stated {
  readonly state?: AnyState | undefined;
  readonly suspended?: boolean;
}

/** `states`: names of states, and the name for what is suspended, separated by commas; "": all. */
export function inStates<T extends Stated>(rows: readonly T[], states: string): readonly T[] {
  const chosen = new Set(partsOf(states));
  if (chosen.size === 0) return rows;
  return rows.filter(
    ({ state = "", suspended = false }) =>
      chosen.has(state) || (suspended && chosen.has(suspendedChip)),
  );
}

/** With `state` if it was not in `states`, and without it otherwise. */
export function toggled(states: string, state: AnyState | typeof suspendedChip): string {
  const chosen = partsOf(states);
  const next = chosen.includes(state)
    ? chosen.filter((each) => each !== state)
    : [...chosen, state];
  return next.join(",");
}

export function partsOf(text: string): readonly string[] {
  return text
    .split(",")
    .map((each) => each.trim())
    .filter(Boolean);
}
