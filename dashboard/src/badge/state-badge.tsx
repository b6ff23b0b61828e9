/** A state as icon and word in its colour. */
import { type AnyState, lookOf, type Tone } from "../state/index.ts";
import "./state-badge.css";

/** Different shapes: colour alone says nothing to some. */
const paths: Readonly<Record<Tone, string>> = {
  bad: "M8 1l7 7-7 7-7-7zM8 4.5v4M8 10.5v1",
  warn: "M8 1.5l7 12.5H1zM8 6v4M8 11.5v1",
  busy: "M8 1.5a6.5 6.5 0 1 0 6.5 6.5M8 4.5V8l2.5 2",
  off: "M8 1.5a6.5 6.5 0 1 0 0 13a6.5 6.5 0 1 0 0-13M4.5 8h7",
  good: "M8 1.5a6.5 6.5 0 1 0 0 13a6.5 6.5 0 1 0 0-13M5 8.2l2.2 2.2L11.2 6",
};

export function StateIcon({ tone }: { readonly tone: Tone }) {
  return (
    <svg className={`state-icon tone-${tone}`} viewBox="0 0 16 16" aria-hidden="true">
      <path d={paths[tone]} />
    </svg>
  );
}

export function StateBadge({
  state,
  suspended = false,
}: {
  readonly state: AnyState;
  readonly suspended?: boolean;
}) {
  const { word, tone } = lookOf(state);
  return (
    <span className={`state-badge tone-${tone}`} title={state}>
      <StateIcon tone={tone} />
      {word}
      {suspended && <span className="state-suspended">suspended</span>}
    </span>
  );
}
