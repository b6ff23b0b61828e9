/**
 * The dependencies that keep a deployment from being installed or upgraded: the Bundles in the same cluster that `dependsOn`
 * names, until each is in an accepted state. Pure; the rules are Fleet's.
 */

import { selects } from "@flotilla/shared/api";
import type { Dependency } from "@flotilla/shared/content";
import { listNames } from "@flotilla/shared/text";
import { cycleThrough, describeCycle } from "./cycle.ts";
import { deploymentView, type ViewedDeployment } from "./deployment-view.ts";
import { createReadyChecks, type ReadyChecks } from "./ready-expression.ts";

/** A deployment of this cluster; it has the name of its Bundle. */
export interface ClusterDeployment extends ViewedDeployment {
  /** The names of the deployments that it waits for. */
  readonly waitsFor: readonly string[];
}

export interface UnmetDependencies {
  /** For people: the dependencies, their states, and a cycle if there is one. */
  readonly message: string;
  /** The names of the dependencies, whether they exist or not. */
  readonly names: readonly string[];
}

/** `name`: the deployment that waits; a selector never selects it. Throws INVALID_CEL_EXPRESSION. */
export function unmetDependencies(
  name: string,
  dependsOn: readonly Dependency[],
  deployments: readonly ClusterDeployment[],
): UnmetDependencies | undefined {
  const checks = createReadyChecks();
  const unmet = dependsOn.flatMap((dependency) =>
    unmetOf(name, dependency, { deployments, checks }),
  );
  if (unmet.length === 0) return undefined;
  const names = [...new Set(unmet.map((each) => each.name))].filter((each) => each !== "");
  const reasons = [...new Set(unmet.map(({ reason }) => reason))];
  const waiting = new Map(deployments.map((each) => [each.name, each.waitsFor]));
  waiting.set(name, names);
  const cycle = cycleThrough(name, (each) => waiting.get(each) ?? []);
  const hint = cycle === undefined ? "" : `; ${describeCycle(cycle)}`;
  return {
    message: `waiting for ${listNames(reasons)}${hint}`,
    names,
  };
}

interface Unmet {
  /** "" for a selector that matches nothing. */
  readonly name: string;
  readonly reason: string;
}

interface Others {
  /** This one included. */
  readonly deployments: readonly ClusterDeployment[];
  readonly checks: ReadyChecks;
}

function unmetOf(
  own: string,
  { name, selector, acceptedStates, readyExpr }: Dependency,
  { deployments, checks }: Others,
): readonly Unmet[] {
  const check = readyExpr === undefined ? undefined : checks.of(readyExpr);
  if (name === own) return [{ name, reason: "itself" }];
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
  if (check !== undefined) {
    const self = deployments.find((each) => each.name === own);
    const view = self === undefined ? {} : deploymentView(self);
    return found.toSorted(byName).flatMap((deployment) => {
      const why = check(view, deploymentView(deployment));
      return why === undefined
        ? []
        : [{ name: deployment.name, reason: `${deployment.name}: ${why}` }];
    });
  }
  const accepted: readonly string[] =
    acceptedStates === undefined || acceptedStates.length === 0 ? ["Ready"] : acceptedStates;
  return found
    .filter(({ state }) => !accepted.includes(state))
    .map(({ name, state }) => ({
      name,
      reason: `${name}, which is ${state} and must be ${accepted.join(" or ")}`,
    }))
    .toSorted(byName);
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}
