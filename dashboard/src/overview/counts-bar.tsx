/** How many are in each state, worst first: as a bar and as numbers, each a link to those. */
import { Link } from "wouter";
import { StateBadge } from "../badge/index.ts";
import { countStates } from "../fleet/index.ts";
import { type AnyState, lookOf } from "../state/index.ts";

export interface CountsBarProps {
  readonly name: string;
  readonly href: string;
  readonly all: ReadonlyMap<string, { readonly state: AnyState; readonly suspended?: boolean }>;
}

export function CountsBar({ name, href, all }: CountsBarProps) {
  const counts = countStates(all.values());
  const suspended = [...all.values()].filter((each) => each.suspended === true).length;
  return (
    <div className="counts">
      <Link href={href} className="counts-name">
        {name} <strong>{all.size.toLocaleString("en")}</strong>
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
            <Link href={`${href}?state=${state}`}>
              <strong>{count.toLocaleString("en")}</strong> <StateBadge state={state} />
            </Link>
          </li>
        ))}
        {suspended > 0 && (
          <li>
            <Link href={`${href}?text=suspended`}>
              <strong>{suspended.toLocaleString("en")}</strong> suspended
            </Link>
          </li>
        )}
      </ul>
    </div>
  );
}
