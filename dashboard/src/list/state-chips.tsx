/** The states that occur in a list, with their counts, the worst first; any number of them is chosen. */
import { StateBadge } from "../badge/index.ts";
import { countStates } from "../fleet/index.ts";
import type { AnyState } from "../state/index.ts";
import { partsOf, toggled } from "./filter.ts";

export interface StateChipsProps {
  /** What the other filters leave. */
  readonly rows: readonly { readonly state?: AnyState | undefined }[];
  /** Separated by commas; "": all. */
  readonly chosen: string;
  readonly choose: (states: string) => void;
}

export function StateChips({ rows, chosen, choose }: StateChipsProps) {
  const states = new Set(partsOf(chosen));
  return (
    <fieldset className="chips">
      <legend className="visually-hidden">States</legend>
      {countStates(rows.flatMap(({ state }) => (state === undefined ? [] : { state }))).map(
        ({ state, count }) => (
          <button
            key={state}
            type="button"
            className="chip"
            aria-pressed={states.has(state)}
            onClick={() => choose(toggled(chosen, state))}
          >
            <StateBadge state={state} /> {count.toLocaleString("en")}
          </button>
        ),
      )}
      {states.size > 0 && (
        <button type="button" className="chip" onClick={() => choose("")}>
          every state
        </button>
      )}
    </fieldset>
  );
}
