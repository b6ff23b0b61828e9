/** Tracks which deployments of this cluster wait for which others, and enqueues them when one of the others changes. */
import { isDeepStrictEqual } from "node:util";
import type { DeploymentState } from "@flotilla/proto";
import type { BundleState } from "@flotilla/shared/api";
import { bundleNameLabel } from "@flotilla/shared/api/names";
import type { DeploymentContent } from "@flotilla/shared/content";
import { type Assignment, type Assignments, memoizeByContent } from "../assignment/index.ts";
import { statusView } from "./deployment-view.ts";
import {
  type ClusterDeployment,
  type UnmetDependencies,
  unmetDependencies,
} from "./unmet-dependencies.ts";

export interface DependencyTracker {
  /** The unmet dependencies of a deployment, from the current states of the others. */
  unmet(name: string, content: DeploymentContent): Promise<UnmetDependencies | undefined>;
  /** Sets the names that a deployment waits for; undefined: none. */
  setWaitsFor(name: string, names: readonly string[] | undefined): void;
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
  /** Enqueues a deployment. */
  readonly enqueue: (name: string) => void;
}

export function createDependencyTracker({
  assignments,
  stateOf,
  enqueue,
}: DependencyTrackerDeps): DependencyTracker {
  const waitsFor = new Map<string, readonly string[]>();
  const states = new Map<string, ReportedState>();
  /** Those that have expressions, which may read any part of a report. */
  const withExpressions = new Set<string>();
  const labelsOf = memoizeByContent(({ labels = {} }) => labels, {});

  function enqueueOthers(name: string): void {
    for (const waiting of waitsFor.keys()) if (waiting !== name) enqueue(waiting);
  }

  assignments.onChange(enqueueOthers);
  return {
    async unmet(name, { dependsOn }) {
      withExpressions.delete(name);
      if (dependsOn === undefined) return undefined;
      if (dependsOn.some(({ readyExpr }) => readyExpr !== undefined)) withExpressions.add(name);
      // Registered first, so that a change during the check enqueues it.
      if (!waitsFor.has(name)) waitsFor.set(name, []);
      const others = assignments.list().filter(({ withdrawing }) => !withdrawing);
      const labels = await Promise.all(others.map(labelsOf));
      const deployments = others.map((other, index): ClusterDeployment => {
        const { name } = other.owner;
        return {
          name,
          labels: { ...labels[index], [bundleNameLabel]: name },
          ...stateOf(other),
          deploymentId: other.deploymentId,
          waitsFor: waitsFor.get(name) ?? [],
        };
      });
      return unmetDependencies(name, dependsOn, deployments);
    },
    setWaitsFor(name, names) {
      if (isDeepStrictEqual(waitsFor.get(name), names)) return;
      if (names === undefined) waitsFor.delete(name);
      else waitsFor.set(name, names);
      // This may have closed or opened a cycle.
      enqueueOthers(name);
    },
    setState(name, state) {
      const before = states.get(name);
      if (state === undefined) {
        states.delete(name);
        waitsFor.delete(name);
        withExpressions.delete(name);
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
