/** Who waits for whom among the deployments of this cluster, and who is to look again when one of them changes. */
import { isDeepStrictEqual } from "node:util";
import { bundleNameLabel } from "@flotilla/shared/api/names.ts";
import type { BundleState } from "@flotilla/shared/api/summary.ts";
import type { DeploymentContent } from "@flotilla/shared/content/content.ts";
import type { HeldAssignment } from "../assignment/assignment-secret.ts";
import type { Assignments } from "../assignment/assignments.ts";
import { readOnce } from "../assignment/read-once.ts";
import { type Hindrance, hindranceOf, type Neighbour } from "./hindrance.ts";

export interface Waiting {
  /** What a deployment has to wait for, from how the others are at this moment. */
  hindranceOf(name: string, content: DeploymentContent): Promise<Hindrance | undefined>;
  /** Those that a deployment waits for now; absent: none. */
  waits(name: string, names: readonly string[] | undefined): void;
  /** How a deployment is now; undefined: it is gone. Where that is news, all that wait look again. */
  saw(name: string, state: BundleState | undefined): void;
}

export interface WaitingDeps {
  readonly assignments: Pick<Assignments, "list" | "onChange">;
  readonly stateOf: (held: HeldAssignment) => BundleState;
  /** Has a deployment look again. */
  readonly wake: (name: string) => void;
}

export function createWaiting({ assignments, stateOf, wake }: WaitingDeps): Waiting {
  const waitsFor = new Map<string, readonly string[]>();
  const states = new Map<string, BundleState>();
  const labelsOf = readOnce(({ labels = {} }) => labels, {});

  function wakeAllBut(name: string): void {
    for (const waiting of waitsFor.keys()) if (waiting !== name) wake(waiting);
  }

  assignments.onChange(wakeAllBut);
  return {
    async hindranceOf(name, { dependsOn }) {
      if (dependsOn === undefined) return undefined;
      // What changes while this is found out must not be missed.
      if (!waitsFor.has(name)) waitsFor.set(name, []);
      const others = assignments.list().filter(({ withdrawing }) => !withdrawing);
      const labelsOfAll = await Promise.all(others.map(labelsOf));
      const neighbours = others.map((held, index): Neighbour => {
        const { name } = held.owner;
        return {
          name,
          labels: { ...labelsOfAll[index], [bundleNameLabel]: name },
          state: stateOf(held),
          waitsFor: waitsFor.get(name) ?? [],
        };
      });
      return hindranceOf(name, dependsOn, neighbours);
    },
    waits(name, names) {
      if (isDeepStrictEqual(waitsFor.get(name), names)) return;
      if (names === undefined) waitsFor.delete(name);
      else waitsFor.set(name, names);
      // One of the others may be waiting for itself by now.
      wakeAllBut(name);
    },
    saw(name, state) {
      if (states.get(name) === state) return;
      if (state === undefined) {
        states.delete(name);
        waitsFor.delete(name);
      } else states.set(name, state);
      wakeAllBut(name);
    },
  };
}
