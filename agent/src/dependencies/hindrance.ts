/**
 * What a deployment has to wait for before it is installed or upgraded: the Bundles of its cluster that its own depends
 * on, until each is in a state that was said to be good enough. Pure; the rules are Fleet's.
 */

import { selects } from "@flotilla/shared/api/label-selector.ts";
import type { BundleState } from "@flotilla/shared/api/summary.ts";
import type { Dependency } from "@flotilla/shared/content/content.ts";

/** Another deployment of the cluster, which has the name of its Bundle. */
export interface Neighbour {
  readonly name: string;
  /** Of its Bundle. */
  readonly labels: Readonly<Record<string, string>>;
  readonly state: BundleState;
  /** The names that it waits for itself. */
  readonly waitsFor: readonly string[];
}

export interface Hindrance {
  /** What is waited for, and in which state that is. */
  readonly message: string;
  /** The names that are waited for, whether they are there or not. */
  readonly names: readonly string[];
}

/** As many names as a sentence has. */
const mostNamed = 10;

/** `name`: the deployment's own, which never waits for itself. */
export function hindranceOf(
  name: string,
  dependsOn: readonly Dependency[],
  neighbours: readonly Neighbour[],
): Hindrance | undefined {
  const unmet = dependsOn.flatMap((dependency) => unmetOf(name, dependency, neighbours));
  if (unmet.length === 0) return undefined;
  const names = [...new Set(unmet.map((each) => each.name))].filter((each) => each !== "");
  const told = [...new Set(unmet.map(({ why }) => why))];
  const more = told.length > mostNamed ? `, and ${told.length - mostNamed} more` : "";
  const cycle = cycleThrough(name, names, neighbours);
  const waits = `it waits for ${told.slice(0, mostNamed).join(", ")}${more}`;
  const deadlock =
    cycle === undefined
      ? ""
      : `; these wait for each other, and none of them goes first: ${cycle.join(" waits for ")}; take one of them out of a dependsOn`;
  return { message: `${waits}${deadlock}`, names };
}

interface Unmet {
  /** "" for what has no name. */
  readonly name: string;
  readonly why: string;
}

function unmetOf(
  own: string,
  { name, selector, acceptedStates }: Dependency,
  neighbours: readonly Neighbour[],
): readonly Unmet[] {
  const found = neighbours.filter(
    (neighbour) =>
      neighbour.name !== own &&
      (name === undefined || neighbour.name === name) &&
      (selector === undefined || selects(selector, neighbour.labels)),
  );
  if (found.length === 0) {
    if (name === undefined)
      return [
        {
          name: "",
          why: `a Bundle with the labels of ${JSON.stringify(selector)}, of which this cluster has none`,
        },
      ];
    const isThere = neighbours.some((neighbour) => neighbour.name === name);
    return [
      {
        name,
        why: isThere
          ? `${name}, whose labels are not those of ${JSON.stringify(selector)}`
          : `${name}, which this cluster does not have`,
      },
    ];
  }
  const accepted: readonly string[] =
    acceptedStates === undefined || acceptedStates.length === 0 ? ["Ready"] : acceptedStates;
  return found
    .filter(({ state }) => !accepted.includes(state))
    .map((neighbour) => ({
      name: neighbour.name,
      why: `${neighbour.name}, which is ${neighbour.state} and has to be ${accepted.join(" or ")}`,
    }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** From a name through what it waits for back to itself. */
function cycleThrough(
  start: string,
  waitsFor: readonly string[],
  neighbours: readonly Neighbour[],
): readonly string[] | undefined {
  const byName = new Map(neighbours.map((neighbour) => [neighbour.name, neighbour]));
  const seen = new Set<string>();
  const ahead: (readonly string[])[] = waitsFor.map((name) => [start, name]);
  for (let path = ahead.shift(); path !== undefined; path = ahead.shift()) {
    const last = path.at(-1) ?? start;
    if (last === start) return path;
    if (seen.has(last)) continue;
    seen.add(last);
    for (const next of byName.get(last)?.waitsFor ?? []) ahead.push([...path, next]);
  }
  return undefined;
}
