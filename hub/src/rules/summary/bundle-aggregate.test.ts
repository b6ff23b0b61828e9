import assert from "node:assert/strict";
import type { BundleDeployment, BundleState } from "@flotilla/shared/api";
import { clusterNamespaceName, helmOpLabel } from "@flotilla/shared/api/names";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/objects";
import fc from "fast-check";
import { describe, test } from "vitest";
import { bundleKeyOf } from "../../base/cache/keys.ts";
import { aDeployment, digestA, digestB, workspace } from "../../testing/index.ts";
import {
  type Aggregate,
  type BundleAggregate,
  type Counted,
  createDeploymentAggregates,
  noResources,
  toCounted,
} from "./bundle-aggregate.ts";
import { stateOf, stateWhileOffline } from "./deployment-state.ts";
import { objectCounts, objectStates } from "./object-states.ts";

function ready(cluster: string, bundle = "web"): BundleDeployment {
  const resourceCounts = { ...noResources(), ready: 2, desiredReady: 2 };
  const status = { appliedDeploymentID: digestA, ready: true, resourceCounts };
  return aDeployment(cluster, { bundle, status });
}

/** An aggregate as comparable data: without zeros and empty fields. */
function plain({ states, total, resources, deployments, helmOps }: Aggregate) {
  const filled = (counts: Readonly<Record<string, number>>) =>
    Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0));
  return {
    total,
    states: filled(states),
    resources: filled(resources),
    helmOps,
    deployments: [...deployments]
      .filter(([, keys]) => keys.size > 0)
      .map(([state, keys]) => [state, [...keys]] as const)
      .sort(byFirst),
  };
}

/** The objects of a Bundle as data: the state of each in each cluster. */
function plainObjects({ objects }: BundleAggregate) {
  return {
    ready: [...objects.ready],
    unready: [...objects.unready],
    states: [...objects.ready, ...objects.unready].map((id) => [
      id,
      [...objects.of(id)].map(([state, keys]) => [state, [...keys]] as const).sort(byFirst),
    ]),
  };
}

function byFirst(a: readonly [string, unknown], b: readonly [string, unknown]): number {
  return a[0] < b[0] ? -1 : 1;
}

/** The same from all deployments at once. */
function recount(
  deployments: readonly BundleDeployment[],
  stateIn: (deployment: BundleDeployment) => BundleState = stateOf,
) {
  const states: Partial<Record<BundleState, number>> = {};
  const resources: Partial<Record<string, number>> = {};
  const byState = new Map<BundleState, ObjectKey[]>();
  for (const deployment of deployments) {
    const state = stateIn(deployment);
    states[state] = (states[state] ?? 0) + 1;
    byState.set(state, [...(byState.get(state) ?? []), keyOf(deployment)]);
    for (const [name, count] of Object.entries(objectCounts(deployment) ?? {}))
      if (count !== 0) resources[name] = (resources[name] ?? 0) + count;
  }
  const ofHelmOps = deployments.filter(({ metadata }) => metadata.labels?.[helmOpLabel]);
  return {
    total: deployments.length,
    states,
    resources,
    helmOps: {
      ready: ofHelmOps.filter((deployment) => stateIn(deployment) === "Ready").length,
      total: ofHelmOps.length,
    },
    deployments: [...byState].map(([state, keys]) => [state, keys.sort()] as const).sort(byFirst),
  };
}

/** The same from all deployments of a Bundle at once, in any order. */
function recountObjects(deployments: readonly BundleDeployment[]) {
  const found = new Map<string, Map<string, string[]>>();
  for (const deployment of deployments) {
    for (const [id, state] of objectStates(deployment)) {
      const states = found.get(id) ?? new Map<string, string[]>();
      states.set(state, [...(states.get(state) ?? []), keyOf(deployment)].sort());
      found.set(id, states);
    }
  }
  const isReady = (id: string) => [...(found.get(id)?.keys() ?? [])].join() === "ready";
  const ids = [...found.keys()].sort();
  const ready = ids.filter(isReady);
  const unready = ids.filter((id) => !isReady(id));
  return {
    ready,
    unready,
    states: [...ready, ...unready].map((id) => [id, [...(found.get(id) ?? [])].sort(byFirst)]),
  };
}

describe("the aggregates", () => {
  test("are empty for unknown keys", () => {
    const aggregates = createDeploymentAggregates();

    assert.deepEqual(plain(aggregates.ofBundle("a/b")), recount([]));
    assert.deepEqual(plain(aggregates.ofCluster("c")), recount([]));
  });

  test("count a deployment for its Bundle and for its cluster", () => {
    const aggregates = createDeploymentAggregates();
    const deployment = ready("paris");

    aggregates.change(undefined, toCounted(deployment));

    assert.deepEqual(plain(aggregates.ofBundle(bundleKeyOf(deployment))), recount([deployment]));
    assert.deepEqual(
      plain(aggregates.ofCluster(clusterNamespaceName(workspace, "paris"))),
      recount([deployment]),
    );
  });

  test("move a deployment whose label was changed to another Bundle", () => {
    const aggregates = createDeploymentAggregates();
    const before = ready("paris");
    const after = { ...before, metadata: ready("paris", "shop").metadata };
    aggregates.change(undefined, toCounted(before));

    aggregates.change(toCounted(before), toCounted(after));

    assert.equal(aggregates.ofBundle(`${workspace}/web`).total, 0);
    assert.equal(aggregates.ofBundle(`${workspace}/shop`).total, 1);
  });

  const names = { cluster: ["a", "b", "c"], bundle: ["web", "db"] } as const;
  const count = fc.nat({ max: 5 });
  const status = fc.option(
    fc.record({
      appliedDeploymentID: fc.constantFrom(digestA, digestB, ""),
      ready: fc.boolean(),
      nonModified: fc.boolean(),
      conditions: fc.constantFrom(
        [],
        [{ type: "Deployed", status: "True" } as const],
        [{ type: "Deployed", status: "False" } as const],
      ),
      resourceCounts: fc.record({
        ready: count,
        desiredReady: count,
        waitApplied: count,
        modified: count,
        orphaned: count,
        missing: count,
        unknown: count,
        notReady: count,
      }),
      resources: fc.uniqueArray(
        fc.record({
          apiVersion: fc.constant("v1"),
          kind: fc.constantFrom("Pod", "Service"),
          namespace: fc.constant("shop"),
          name: fc.constantFrom("a", "b", "c"),
          state: fc.constantFrom(undefined, "in-progress", "missing", "unknown"),
        }),
        { selector: ({ kind, name }) => kind + name },
      ),
      nonReadyStatus: fc.array(
        fc.record({
          apiVersion: fc.constant("v1"),
          kind: fc.constant("Pod"),
          name: fc.constantFrom("a", "d"),
        }),
        { maxLength: 2 },
      ),
      modifiedStatus: fc.array(
        fc.record({
          apiVersion: fc.constant("v1"),
          kind: fc.constant("Service"),
          name: fc.constantFrom("a", "e"),
          missing: fc.boolean(),
          delete: fc.boolean(),
        }),
        { maxLength: 2 },
      ),
    }),
    { nil: undefined },
  );
  /** One deployment is created, changed or deleted. */
  const step = fc.record({
    cluster: fc.constantFrom(...names.cluster),
    bundle: fc.constantFrom(...names.bundle),
    isGone: fc.boolean(),
    isHelmOps: fc.boolean(),
    isOffline: fc.boolean(),
    staged: fc.constantFrom(digestA, digestB),
    status,
  });

  test("equal a recount after any changes", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const aggregates = createDeploymentAggregates();
        const known = new Map<ObjectKey, Counted>();
        for (const {
          cluster,
          bundle,
          isGone,
          isHelmOps,
          isOffline,
          staged,
          status: next,
        } of steps) {
          const made = aDeployment(cluster, {
            bundle,
            status: next,
            spec: { stagedDeploymentID: staged },
          });
          const labels = { ...made.metadata.labels, ...(isHelmOps && { [helmOpLabel]: bundle }) };
          const after = { ...made, metadata: { ...made.metadata, labels } };
          const counted = isGone ? undefined : toCounted(after, isOffline);
          aggregates.change(known.get(keyOf(after)), counted);
          if (counted === undefined) known.delete(keyOf(after));
          else known.set(keyOf(after), counted);
        }

        const all = [...known.values()].map(({ deployment }) => deployment);
        const isOfflineNow = (deployment: BundleDeployment) =>
          known.get(keyOf(deployment))?.isOffline === true;
        const stateIn = (deployment: BundleDeployment) =>
          isOfflineNow(deployment) ? stateWhileOffline(stateOf(deployment)) : stateOf(deployment);
        for (const name of names.bundle) {
          const key = `${workspace}/${name}`;
          const own = all.filter((deployment) => bundleKeyOf(deployment) === key);
          assert.deepEqual(plain(aggregates.ofBundle(key)), recount(own, stateIn));
          assert.deepEqual(
            [...aggregates.ofBundle(key).offline],
            own.filter(isOfflineNow).map(keyOf).sort(),
          );
          assert.deepEqual(plainObjects(aggregates.ofBundle(key)), recountObjects(own));
        }
        for (const name of names.cluster) {
          const namespace = clusterNamespaceName(workspace, name);
          const own = all.filter(({ metadata }) => metadata.namespace === namespace);
          assert.deepEqual(plain(aggregates.ofCluster(namespace)), recount(own));
        }
      }),
    );
  });
});
