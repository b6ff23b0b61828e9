import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import { clusterNamespaceName } from "@flotilla/shared/api/names.ts";
import type { BundleState, ResourceCounts } from "@flotilla/shared/api/summary.ts";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/object.ts";
import fc from "fast-check";
import { aDeployment, digestA, digestB, workspace } from "../testing/objects.ts";
import { stateOf } from "./deployment-state.ts";
import { bundleKeyOf, createTallies, type Tally } from "./tally.ts";

const noResources: ResourceCounts = {
  ready: 0,
  desiredReady: 0,
  waitApplied: 0,
  modified: 0,
  orphaned: 0,
  missing: 0,
  unknown: 0,
  notReady: 0,
};

function ready(cluster: string, bundle = "web"): BundleDeployment {
  const resourceCounts = { ...noResources, ready: 2, desiredReady: 2 };
  const status = { appliedDeploymentID: digestA, ready: true, resourceCounts };
  return aDeployment(cluster, { bundle, status });
}

/** A tally as data that can be compared: without what is zero or empty. */
function plain({ states, total, resources, unready }: Tally) {
  const filled = (counts: Readonly<Record<string, number>>) =>
    Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0));
  return {
    total,
    states: filled(states),
    resources: filled(resources),
    unready: [...unready]
      .filter(([, keys]) => keys.size > 0)
      .map(([state, keys]) => [state, [...keys].sort()] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  };
}

/** The same from all deployments at once. */
function recount(deployments: readonly BundleDeployment[]) {
  const states: Partial<Record<BundleState, number>> = {};
  const resources: Partial<Record<string, number>> = {};
  const unready = new Map<BundleState, ObjectKey[]>();
  for (const deployment of deployments) {
    const state = stateOf(deployment);
    states[state] = (states[state] ?? 0) + 1;
    if (state !== "Ready") unready.set(state, [...(unready.get(state) ?? []), keyOf(deployment)]);
    for (const [name, count] of Object.entries(deployment.status?.resourceCounts ?? {}))
      if (count !== 0) resources[name] = (resources[name] ?? 0) + count;
  }
  return {
    total: deployments.length,
    states,
    resources,
    unready: [...unready]
      .map(([state, keys]) => [state, keys.sort()] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  };
}

describe("running totals", () => {
  test("are nothing for what was never heard of", () => {
    const tallies = createTallies();

    assert.deepEqual(plain(tallies.ofBundle("a/b")), recount([]));
    assert.deepEqual(plain(tallies.ofCluster("c")), recount([]));
  });

  test("count a deployment for its Bundle and for its cluster", () => {
    const tallies = createTallies();
    const deployment = ready("paris");

    tallies.change(undefined, deployment);

    assert.deepEqual(plain(tallies.ofBundle(bundleKeyOf(deployment))), recount([deployment]));
    assert.deepEqual(
      plain(tallies.ofCluster(clusterNamespaceName(workspace, "paris"))),
      recount([deployment]),
    );
  });

  test("move a deployment that was labelled as another Bundle's", () => {
    const tallies = createTallies();
    const before = ready("paris");
    const after = { ...before, metadata: ready("paris", "shop").metadata };
    tallies.change(undefined, before);

    tallies.change(before, after);

    assert.equal(tallies.ofBundle(`${workspace}/web`).total, 0);
    assert.equal(tallies.ofBundle(`${workspace}/shop`).total, 1);
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
    }),
    { nil: undefined },
  );
  /** What becomes of one of the deployments: it is changed (or made), or it goes. */
  const step = fc.record({
    cluster: fc.constantFrom(...names.cluster),
    bundle: fc.constantFrom(...names.bundle),
    isGone: fc.boolean(),
    staged: fc.constantFrom(digestA, digestB),
    status,
  });

  test("are what a recount gives, after any changes", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const tallies = createTallies();
        const deployments = new Map<ObjectKey, BundleDeployment>();
        for (const { cluster, bundle, isGone, staged, status: next } of steps) {
          const after = aDeployment(cluster, {
            bundle,
            status: next,
            spec: { stagedDeploymentID: staged },
          });
          tallies.change(deployments.get(keyOf(after)), isGone ? undefined : after);
          if (isGone) deployments.delete(keyOf(after));
          else deployments.set(keyOf(after), after);
        }

        const all = [...deployments.values()];
        for (const name of names.bundle) {
          const key = `${workspace}/${name}`;
          const own = all.filter((deployment) => bundleKeyOf(deployment) === key);
          assert.deepEqual(plain(tallies.ofBundle(key)), recount(own));
        }
        for (const name of names.cluster) {
          const namespace = clusterNamespaceName(workspace, name);
          const own = all.filter(({ metadata }) => metadata.namespace === namespace);
          assert.deepEqual(plain(tallies.ofCluster(namespace)), recount(own));
        }
      }),
    );
  });
});
