/** How many are in each state, worst first: as a bar and as numbers, each a link to those. */
import { Link } from "wouter";
import { StateBadge } from "../badge/index.ts";
import { countStates } from "../fleet/index.ts";
import { type AnyState, lookOf, suspendedChip } from "../state/index.ts";

export interface CountsBarProps {
  readonly name: string;
  /** The address of the list. */
  readonly href: string;
  /** To which the list is limited, too; "": it is not. */
  readonly namespace: string;
  readonly all: readonly { readonly state: AnyState; readonly suspended?: boolean }[];
}

export function CountsBar({ name, href, namespace, all }: CountsBarProps) {
  const listOf = (filter: Readonly<Record<string, string>>) =>
    `${href}?${new URLSearchParams({ ...filter, ...(namespace !== "" && { namespace }) }).toString()}`;
  const counts = countStates(all);
  const suspended = all.filter((each) => each.suspended === true).length;
  return (
    <div className="counts">
      <Link href={listOf({})} className="counts-name">
        {name} <strong>{all.length.toLocaleString("en")}</strong>
      </Link>
      <div className="counts-bar" aria-hidden="true">
        {counts.map(({ state, count }) => (
          <span
            key={state}
            className={`counts-part tone-${lookOf(state).tone}`}
            style={{ flexGrow: count }}
          />
        ))}
      </div>
      <ul className="counts-list">
        {counts.map(({ state, count }) => (
          <li key={state}>
            <Link href={listOf({ state })}>
              <strong>{count.toLocaleString("en")}</strong> <StateBadge state={state} />
            </Link>
          </li>
        ))}
        {suspended > 0 && (
          <li>
            <Link href={listOf({ state: suspendedChip })}>
              <strong>{suspended.toLocaleString("en")}</strong> suspended
            </Link>
          </li>
        )}
      </ul>
    </div>
  );
}
