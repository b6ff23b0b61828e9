/** Tracks which releases of this cluster wait for which deployments, and enqueues them when one of these changes. */
import { isDeepStrictEqual } from "node:util";
import type { DeploymentState } from "@flotilla/proto";
import type { BundleState } from "@flotilla/shared/api";
import { bundleNameLabel } from "@flotilla/shared/api/names";
import type { DeploymentContent } from "@flotilla/shared/content";
import {
  type Assignment,
  type Assignments,
  deploymentOf,
  memoizeByContent,
} from "../../state/index.ts";
import { statusView } from "./deployment-view.ts";
import {
  type ClusterDeployment,
  type UnmetDependencies,
  unmetDependencies,
} from "./unmet-dependencies.ts";

export interface DependencyTracker {
  /** The unmet dependencies of a release, from the current states of the other deployments. */
  unmet(id: string, content: DeploymentContent): Promise<UnmetDependencies | undefined>;
  /** Sets the names of the deployments that a release waits for; undefined: none. */
  setWaitsFor(id: string, names: readonly string[] | undefined): void;
  /**
   * Sets the state of a deployment; undefined: it was removed. A change enqueues all that wait; one of another part of the report
   * enqueues those that wait for it by an expression.
   */
  setState(name: string, state: ReportedState | undefined): void;
}

/** What is reported of a deployment. */
export interface ReportedState {
  readonly state: BundleState;
  /** Absent before its first reconcile. */
  readonly report?: DeploymentState | undefined;
}

export interface DependencyTrackerDeps {
  readonly assignments: Pick<Assignments, "list" | "onChange">;
  readonly stateOf: (assignment: Assignment) => ReportedState;
  /** Enqueues a release. */
  readonly enqueue: (id: string) => void;
}

export function createDependencyTracker({
  assignments,
  stateOf,
  enqueue,
}: DependencyTrackerDeps): DependencyTracker {
  /** By release. */
  const waitsFor = new Map<string, readonly string[]>();
  const states = new Map<string, ReportedState>();
  /** Those that have expressions, which may read any part of a report. */
  const withExpressions = new Set<string>();
  const labelsOf = memoizeByContent(({ labels = {} }) => labels, {});

  function enqueueOthers(name: string): void {
    for (const waiting of waitsFor.keys()) if (deploymentOf(waiting) !== name) enqueue(waiting);
  }

  /** For all releases of each deployment. */
  function waitsForByDeployment(): ReadonlyMap<string, readonly string[]> {
    const all = new Map<string, readonly string[]>();
    for (const [id, names] of waitsFor) {
      const deployment = deploymentOf(id);
      all.set(deployment, [...(all.get(deployment) ?? []), ...names]);
    }
    return all;
  }

  assignments.onChange(enqueueOthers);
  return {
    async unmet(id, { dependsOn }) {
      withExpressions.delete(id);
      if (dependsOn === undefined) return undefined;
      if (dependsOn.some(({ readyExpr }) => readyExpr !== undefined)) withExpressions.add(id);
      // Registered first, so that a change during the check enqueues it.
      if (!waitsFor.has(id)) waitsFor.set(id, []);
      const others = assignments.list().filter(({ withdrawing }) => !withdrawing);
      const labels = await Promise.all(others.map(labelsOf));
      const waiting = waitsForByDeployment();
      const deployments = others.map((other, index): ClusterDeployment => {
        const { name } = other.owner;
        return {
          name,
          labels: { ...labels[index], [bundleNameLabel]: name },
          ...stateOf(other),
          deploymentId: other.deploymentId,
          waitsFor: waiting.get(name) ?? [],
        };
      });
      return unmetDependencies(deploymentOf(id), dependsOn, deployments);
    },
    setWaitsFor(id, names) {
      if (isDeepStrictEqual(waitsFor.get(id), names)) return;
      if (names === undefined) waitsFor.delete(id);
      else waitsFor.set(id, names);
      // This may have closed or opened a cycle.
      enqueueOthers(deploymentOf(id));
    },
    setState(name, state) {
      const before = states.get(name);
      if (state === undefined) {
        states.delete(name);
        for (const id of [...waitsFor.keys(), ...withExpressions])
          if (deploymentOf(id) === name) {
            waitsFor.delete(id);
            withExpressions.delete(id);
          }
      } else states.set(name, state);
      if (before?.state !== state?.state) enqueueOthers(name);
      else if (withExpressions.size > 0 && !isSameView(before, state))
        for (const [waiting, names] of waitsFor)
          if (withExpressions.has(waiting) && (names.length === 0 || names.includes(name)))
            enqueue(waiting);
    },
  };
}

function isSameView(before: ReportedState | undefined, now: ReportedState | undefined): boolean {
  if (before?.report?.deploymentId !== now?.report?.deploymentId) return false;
  const [a, b] = [before, now].map(
    (each) => each && statusView({ ...each, deploymentId: each.report?.deploymentId ?? "" }),
  );
  return isDeepStrictEqual(a, b);
}
