/** What a list shows, as its address has it. Pure. */
import { type AnyState, byUrgency } from "../state/index.ts";

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
  /** `key=value` or `key`, separated by commas; "": all. */
  readonly labels: string;
  readonly namespace: string;
}

/** The worst first, then by name. */
export function filtered<T extends Listed>(all: Iterable<T>, filter: Filter): readonly T[] {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  const required = partsOf(filter.labels);
  return [...all]
    .filter(
      (row) =>
        (filter.namespace === "" || row.namespace === filter.namespace) &&
        required.every((each) => hasLabel(row, each)) &&
        words.every((word) => hasText(row, word)),
    )
    .sort((one, other) => byUrgency(one.state, other.state) || one.name.localeCompare(other.name));
}

/** `states`: names of states, separated by commas; "": all. */
export function inStates<T extends Listed>(rows: readonly T[], states: string): readonly T[] {
  const chosen = new Set(partsOf(states));
  return chosen.size === 0 ? rows : rows.filter(({ state }) => chosen.has(state));
}

/** With `state` if it was not in `states`, and without it otherwise. */
export function toggled(states: string, state: AnyState): string {
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

function hasLabel({ labels }: Listed, required: string): boolean {
  const at = required.indexOf("=");
  if (at < 0) return labels[required] !== undefined;
  return labels[required.slice(0, at)] === required.slice(at + 1);
}

function hasText({ namespace, name, texts }: Listed, word: string): boolean {
  return [name, namespace, ...texts].some((text) => text.toLowerCase().includes(word));
}
