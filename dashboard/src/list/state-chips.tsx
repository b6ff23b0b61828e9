/** The states that occur in a list, with their counts, the worst first; any number of them is chosen. */
import { StateBadge } from "../badge/index.ts";
import { countStates } from "../fleet/index.ts";
import { suspendedChip } from "../state/index.ts";
import { partsOf, type Stated, toggled } from "./filter.ts";

export interface StateChipsProps {
  /** What the other filters leave. */
  readonly rows: readonly Stated[];
  /** Separated by commas; "": all. */
  readonly chosen: string;
  readonly choose: (states: string) => void;
}

export function StateChips({ rows, chosen, choose }: StateChipsProps) {
  const states = new Set(partsOf(chosen));
  const suspended = rows.filter((row) => row.suspended === true).length;
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
      {suspended > 0 && (
        <button
          type="button"
          className="chip"
          aria-pressed={states.has(suspendedChip)}
          onClick={() => choose(toggled(chosen, suspendedChip))}
        >
          Suspended {suspended.toLocaleString("en")}
        </button>
      )}
      {states.size > 0 && (
        <button type="button" className="chip" onClick={() => choose("")}>
          every state
        </button>
      )}
    </fieldset>
  );
}
