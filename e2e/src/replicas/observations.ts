/** Records all states of the hub's objects while replicas fail, and asserts what must hold all the time. */
import assert from "node:assert/strict";
import {
  type BundleDeployment,
  bundleDeployments,
  bundles,
  type Cluster,
  clusters,
  helmOps,
} from "@flotilla/shared/api";
import { workspaceNamespace } from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { afterAll } from "vitest";
import type { WithConditions } from "../harness/wait.ts";
import { type ConditionChange, conditionChanges } from "./condition-changes.ts";
import { createRecorder, distinctSteps, type History, isRising } from "./history.ts";
import { observedGeneration, type ReplicatedFleet } from "./replicated-fleet.ts";

/** A point in the history of each kind. */
export interface Point {
  readonly helmOps: number;
  readonly bundles: number;
  readonly clusters: number;
  readonly deployments: number;
}

export interface ObjectCondition extends ConditionChange {
  /** Kind and name. */
  readonly object: string;
}

export interface Observations {
  now(): Point;
  /** How many objects of each kind were observed: HelmOps, Bundles, Clusters, BundleDeployments. */
  readonly objectCounts: readonly number[];
  /**
   * Nothing newer was overwritten since then, no content was applied twice, and no cluster was offline but those in
   * `offline`.
   */
  assertNothingFlapped(from: Point, offline?: readonly string[]): void;
  /** Every change of every condition of all objects since then. */
  conditionChanges(from: Point): readonly ObjectCondition[];
  /** Since then no conditions changed but those of `moving` and of the clusters, as that many rollouts have them change. */
  assertRollouts(from: Point, rollouts: number): void;
}

const keyIn = (name: string) => `${workspaceNamespace}/${name}`;

export const isConnected = ({ status }: Cluster): boolean => status?.agent?.connected === true;

/** Lasts for the file. */
export async function observe({ hub, fleet }: ReplicatedFleet): Promise<Observations> {
  const recorder = createRecorder(hub);
  afterAll(() => recorder.stop());
  const [ofHelmOps, ofBundles, ofClusters, ofDeployments] = await Promise.all([
    recorder.record(helmOps),
    recorder.record(bundles),
    recorder.record(clusters),
    recorder.record(bundleDeployments),
  ]);
  const conditionChangesSince = (from: Point) => [
    ...changesIn("HelmOp", ofHelmOps, from.helmOps),
    ...changesIn("Bundle", ofBundles, from.bundles),
    ...changesIn("Cluster", ofClusters, from.clusters),
    ...changesIn("BundleDeployment", ofDeployments, from.deployments),
  ];

  return {
    now: () => ({
      helmOps: ofHelmOps.length,
      bundles: ofBundles.length,
      clusters: ofClusters.length,
      deployments: ofDeployments.length,
    }),
    get objectCounts() {
      return [ofHelmOps, ofBundles, ofClusters, ofDeployments].map(({ keys }) => keys.length);
    },
    assertNothingFlapped(from, offline = []) {
      for (const { name } of fleet.clusters) {
        const history = ofClusters.of(keyIn(name), from.clusters);
        assert.ok(
          isRising(history.map(({ status }) => status?.agent?.epoch ?? 0)),
          `epochs of ${name}`,
        );
        if (!offline.includes(name))
          assert.deepEqual(distinctSteps(history, isConnected), [true], `presence of ${name}`);
      }
      for (const name of ["still", "moving"]) {
        const history = ofHelmOps.of(keyIn(name), from.helmOps);
        assert.ok(isRising(history.map(observedGeneration)), `generations of ${name}`);
      }
      const reasons = ofHelmOps
        .of(keyIn("still"), from.helmOps)
        .map(({ status }) => findCondition(status?.conditions, "Ready")?.reason);
      if (offline.length === 0) assert.deepEqual([...new Set(reasons)], ["Ready"]);
      assertAppliedOnce(ofDeployments, from.deployments);
    },
    conditionChanges: conditionChangesSince,
    assertRollouts(from, rollouts) {
      const changes = conditionChangesSince(from);
      const isConcerned = ({ object }: ObjectCondition) =>
        object.endsWith("/moving") || object.startsWith("Cluster ");
      assert.deepEqual(
        changes.filter((change) => !(isConcerned(change) && isOfRollout(change))),
        [],
      );
      const byObject = Object.groupBy(changes, ({ object }) => object);
      for (const [object, own = []] of Object.entries(byObject)) {
        const lost = own.filter(
          ({ type, before }) => type === "Ready" && before.startsWith("True"),
        ).length;
        // The clusters become ready one by one, and HelmOp and Bundle may be Ready between two of them.
        const most = /^(HelmOp|Bundle) /.test(object) ? rollouts * fleet.clusters.length : rollouts;
        assert.ok(lost <= most, `${object} lost its Ready condition ${lost} times`);
      }
    },
  };
}

/** Each deployment applied one content after the other, none of them twice. */
function assertAppliedOnce(history: History<BundleDeployment>, from: number): void {
  const keys = new Set(
    history.since(from).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`),
  );
  for (const key of keys) {
    const applied = distinctSteps(
      history.of(key, from),
      ({ status }) => status?.appliedDeploymentID ?? "",
    );
    assert.equal(new Set(applied).size, applied.length, `contents of ${key}: ${applied.join(" ")}`);
  }
}

function changesIn(
  kind: string,
  history: History<KubeObject & WithConditions>,
  from: number,
): readonly ObjectCondition[] {
  return history.keys.flatMap((key) =>
    conditionChanges(history.of(key, from)).map((change) => ({
      object: `${kind} ${key}`,
      ...change,
    })),
  );
}

/** Status and reason of the conditions of an object that is rolled out. */
const inRollout: Readonly<Record<string, readonly string[]>> = {
  Ready: ["True ", "True Ready", "False WaitApplied", "False NotReady"],
  Reconciling: ["False ", "True WaitApplied", "True NotReady"],
  Released: ["True UpgradeSucceeded"],
};

/**
 * A leader that is stopped writes the statuses that wait, and by then the spec may have changed without having been
 * reconciled: only then may a condition become unknown.
 */
const notReconciledYet: readonly string[] = ["Unknown Progressing", "True Progressing"];

function isOfRollout({ type, after, hasNewSpec }: ConditionChange): boolean {
  return (
    inRollout[type]?.includes(after) === true || (hasNewSpec && notReconciledYet.includes(after))
  );
}
