/** Tracks which deployments of this cluster wait for which others, and enqueues them when one of the others changes. */
import { isDeepStrictEqual } from "node:util";
import type { BundleState } from "@flotilla/shared/api";
import { bundleNameLabel } from "@flotilla/shared/api/names";
import type { DeploymentContent } from "@flotilla/shared/content";
import { type Assignment, type Assignments, memoizeByContent } from "../assignment/index.ts";
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
  /** Sets the state of a deployment; undefined: it was removed. A change enqueues all that wait. */
  setState(name: string, state: BundleState | undefined): void;
}

export interface DependencyTrackerDeps {
  readonly assignments: Pick<Assignments, "list" | "onChange">;
  readonly stateOf: (assignment: Assignment) => BundleState;
  /** Enqueues a deployment. */
  readonly enqueue: (name: string) => void;
}

export function createDependencyTracker({
  assignments,
  stateOf,
  enqueue,
}: DependencyTrackerDeps): DependencyTracker {
  const waitsFor = new Map<string, readonly string[]>();
  const states = new Map<string, BundleState>();
  const labelsOf = memoizeByContent(({ labels = {} }) => labels, {});

  function enqueueOthers(name: string): void {
    for (const waiting of waitsFor.keys()) if (waiting !== name) enqueue(waiting);
  }

  assignments.onChange(enqueueOthers);
  return {
    async unmet(name, { dependsOn }) {
      if (dependsOn === undefined) return undefined;
      // Registered first, so that a change during the check enqueues it.
      if (!waitsFor.has(name)) waitsFor.set(name, []);
      const others = assignments.list().filter(({ withdrawing }) => !withdrawing);
      const labels = await Promise.all(others.map(labelsOf));
      const deployments = others.map((other, index): ClusterDeployment => {
        const { name } = other.owner;
        return {
          name,
          labels: { ...labels[index], [bundleNameLabel]: name },
          state: stateOf(other),
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
      if (states.get(name) === state) return;
      if (state === undefined) {
        states.delete(name);
        waitsFor.delete(name);
      } else states.set(name, state);
      enqueueOthers(name);
    },
  };
}
