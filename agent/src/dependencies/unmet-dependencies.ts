/**
 * The dependencies that keep a deployment from being installed or upgraded: the Bundles in the same cluster that `dependsOn`
 * names, until each is in an accepted state. Pure; the rules are Fleet's.
 */
import { type BundleState, selects } from "@flotilla/shared/api";
import type { Dependency } from "@flotilla/shared/content";

/** A deployment of this cluster; it has the name of its Bundle. */
export interface ClusterDeployment {
  readonly name: string;
  /** Of its Bundle. */
  readonly labels: Readonly<Record<string, string>>;
  readonly state: BundleState;
  /** The names of the deployments that it waits for. */
  readonly waitsFor: readonly string[];
}

export interface UnmetDependencies {
  /** For people: the dependencies, their states, and a cycle if there is one. */
  readonly message: string;
  /** The names of the dependencies, whether they exist or not. */
  readonly names: readonly string[];
}

/** In one message. */
const maxNames = 10;

/** `name`: the deployment that waits; it never depends on itself. */
export function unmetDependencies(
  name: string,
  dependsOn: readonly Dependency[],
  deployments: readonly ClusterDeployment[],
): UnmetDependencies | undefined {
  const unmet = dependsOn.flatMap((dependency) => unmetOf(name, dependency, deployments));
  if (unmet.length === 0) return undefined;
  const names = [...new Set(unmet.map((each) => each.name))].filter((each) => each !== "");
  const reasons = [...new Set(unmet.map(({ reason }) => reason))];
  const more = reasons.length > maxNames ? `, and ${reasons.length - maxNames} more` : "";
  const cycle = cycleThrough(name, names, deployments);
  const hint =
    cycle === undefined
      ? ""
      : `; dependency cycle: ${cycle.join(" waits for ")}; remove one of them from a dependsOn`;
  return {
    message: `waiting for ${reasons.slice(0, maxNames).join(", ")}${more}${hint}`,
    names,
  };
}

interface Unmet {
  /** "" for a selector that matches nothing. */
  readonly name: string;
  readonly reason: string;
}

function unmetOf(
  own: string,
  { name, selector, acceptedStates }: Dependency,
  deployments: readonly ClusterDeployment[],
): readonly Unmet[] {
  const found = deployments.filter(
    (deployment) =>
      deployment.name !== own &&
      (name === undefined || deployment.name === name) &&
      (selector === undefined || selects(selector, deployment.labels)),
  );
  if (found.length === 0) {
    if (name === undefined)
      return [
        {
          name: "",
          reason: `a Bundle that matches ${JSON.stringify(selector)}, which this cluster does not have`,
        },
      ];
    const exists = deployments.some((deployment) => deployment.name === name);
    return [
      {
        name,
        reason: exists
          ? `${name}, whose labels do not match ${JSON.stringify(selector)}`
          : `${name}, which this cluster does not have`,
      },
    ];
  }
  const accepted: readonly string[] =
    acceptedStates === undefined || acceptedStates.length === 0 ? ["Ready"] : acceptedStates;
  return found
    .filter(({ state }) => !accepted.includes(state))
    .map(({ name, state }) => ({
      name,
      reason: `${name}, which is ${state} and must be ${accepted.join(" or ")}`,
    }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** A path of dependencies from a name back to itself. */
function cycleThrough(
  start: string,
  waitsFor: readonly string[],
  deployments: readonly ClusterDeployment[],
): readonly string[] | undefined {
  const byName = new Map(deployments.map((deployment) => [deployment.name, deployment]));
  const visited = new Set<string>();
  const queue: (readonly string[])[] = waitsFor.map((name) => [start, name]);
  for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
    const last = path.at(-1) ?? start;
    if (last === start) return path;
    if (visited.has(last)) continue;
    visited.add(last);
    for (const next of byName.get(last)?.waitsFor ?? []) queue.push([...path, next]);
  }
  return undefined;
}
