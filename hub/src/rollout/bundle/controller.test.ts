import assert from "node:assert/strict";
import type { Bundle } from "@flotilla/shared/api";
import { type BundleRollout, rolloutApiVersion } from "@flotilla/shared/api/rollout";
import { nextIteration } from "@flotilla/shared/concurrency";
import { startWatches } from "@flotilla/shared/kube/controller";
import type { ObjectKey } from "@flotilla/shared/kube/objects";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import { createDeploymentSigner } from "../../rules/content/deployment-signature.ts";
import { createMappings } from "../../rules/mapping/mappings.ts";
import { createPinSigner } from "../../rules/resolve/pin-signature.ts";
import {
  aBundle,
  aCluster,
  aDeployment,
  aHelmOp,
  createTestCaches,
  decidedBundle,
  digestA,
  httpPin,
  workspace,
} from "../../testing/index.ts";
import { createCoalescer } from "./coalesce.ts";
import { bundleWatches } from "./controller.ts";
import { decidedStatus, targetsMissing } from "./decided-status.ts";
import { createReportPasses } from "./report-passes.ts";

const bundle = `${workspace}/web`;

/** The watches of the controller, and the keys that they enqueue. */
function start(prepare: (caches: ReturnType<typeof createTestCaches>) => void = () => undefined) {
  const caches = createTestCaches();
  prepare(caches);
  const keys: ObjectKey[] = [];
  const clock = createFakeClock();
  const coalescer = createCoalescer(caches.clusters.store, clock);
  const watches = bundleWatches(
    {
      caches,
      statuses: {
        current: ({ status }) => status,
        publish: () => undefined,
        refresh: () => undefined,
        refreshLater: () => undefined,
        flush: () => Promise.resolve(),
      },
      mappings: createMappings(caches),
      secrets: { start: () => () => undefined },
      coalescer,
      decisions: createCoalescer(caches.clusters.store, clock),
      passes: createReportPasses(clock, coalescer),
      deploymentSigner: createDeploymentSigner(createPinSigner(Buffer.from("key"))),
    },
    () => undefined,
  );
  const stop = startWatches(watches, (key) => keys.push(key));
  return { caches, keys, stop };
}

const changed = { generation: 2, resourceVersion: "2" };

test("thousands of deployment writes enqueue their Bundle a few times", () => {
  const names = Array.from({ length: 5_000 }, (_, index) => `cluster-${index}`);
  const { caches, keys } = start((caches) => {
    for (const name of names) {
      caches.clusters.saw(aCluster(name));
      caches.deployments.saw(aDeployment(name));
    }
  });

  for (const name of names) caches.deployments.saw(aDeployment(name, { metadata: changed }));

  const count = keys.filter((key) => key === bundle).length;
  assert.ok(count >= 1 && count <= 5, `${count} reconciles`);
});

test("a command to its rollout enqueues a Bundle at once, however many reports wait", () => {
  const names = Array.from({ length: 5_000 }, (_, index) => `cluster-${index}`);
  const rollout: BundleRollout = {
    ...{ apiVersion: rolloutApiVersion, kind: "BundleRollout" },
    metadata: {
      namespace: workspace,
      name: "web-1",
      uid: "uid",
      generation: 1,
      resourceVersion: "1",
    },
    spec: {
      app: { kind: "HelmOp", name: "web" },
      bundle: { name: "web", uid: "uid-bundle" },
      signature: "",
      ...{ number: 1, revision: digestA, targets: [] },
    },
  };
  const { caches, keys } = start(({ clusters, deployments, rollouts }) => {
    for (const name of names) {
      clusters.saw(aCluster(name));
      deployments.saw(aDeployment(name));
    }
    rollouts.saw(rollout);
  });
  for (const name of names) caches.deployments.saw(aDeployment(name, { metadata: changed }));
  keys.splice(0);

  caches.rollouts.saw({
    ...rollout,
    metadata: { ...rollout.metadata, ...changed },
    spec: { ...rollout.spec, state: "Halted" },
  });

  assert.deepEqual(keys, [bundle]);
});

describe("a change of a cluster enqueues a Bundle", () => {
  const elsewhere = [{ clusterName: "rome" }];
  const missing = { status: "True", reason: targetsMissing, message: "" } as const;
  const cases = [
    ["that is deployed to the cluster", aBundle({ targets: [{ clusterSelector: {} }] }), true],
    ["that is not deployed to the cluster: not enqueued", aBundle({ targets: elsewhere }), false],
    [
      "whose targets name an object that does not exist",
      {
        ...aBundle({ targets: elsewhere }),
        status: decidedStatus(aBundle(), undefined, { accepted: missing, now: "2026-01-01" }),
      },
      true,
    ],
  ] as const;
  for (const [what, object, isReconciled] of cases)
    test(what, async () => {
      const { caches, keys } = start(({ bundles }) => void bundles.saw(object));
      keys.splice(0);

      caches.clusters.saw(aCluster("paris"));
      await nextIteration();
      await nextIteration();

      assert.deepEqual(keys, isReconciled ? [bundle] : []);
    });
});

test("a Bundle is enqueued when its pins are stored, not for other changes of its status", () => {
  const applied = aBundle({}, { labels: {}, resourceVersion: "1" });
  const pins = [{ repo: "r", chart: "c", version: "~1", pin: httpPin("1.2.9") }];
  const pinned = {
    ...applied,
    metadata: { ...applied.metadata, resourceVersion: "2" },
    status: { pins },
  };
  const { caches, keys } = start(({ bundles }) => void bundles.saw(applied));
  keys.splice(0);

  caches.bundles.saw(pinned);
  assert.deepEqual(keys, [bundle]);

  caches.bundles.saw({
    ...pinned,
    metadata: { ...pinned.metadata, resourceVersion: "3" },
    status: { pins, unavailable: 1 },
  });
  assert.deepEqual(keys, [bundle]);
});

test("creating or deleting a HelmOp enqueues its Bundle", () => {
  const { caches, keys } = start(({ bundles }) => void bundles.saw(decidedBundle(aBundle())));
  keys.splice(0);

  caches.helmOps.saw(aHelmOp());
  caches.helmOps.missed(bundle);

  assert.deepEqual(keys, [bundle, bundle]);
});

test("stopped watches enqueue nothing", () => {
  const { caches, keys, stop } = start();

  stop();
  caches.bundles.saw(aBundle());

  assert.deepEqual(keys, []);
});

describe("a report of an agent enqueues its Bundle", () => {
  const reported = (ready: boolean) =>
    aDeployment("paris", {
      metadata: { resourceVersion: ready ? "3" : "2" },
      status: { appliedDeploymentID: "v2", ready },
    });
  const rows: readonly (readonly [string, Bundle["spec"]["rolloutStrategy"], boolean])[] = [
    ["when its limits may hold something", { maxUnavailable: 1 }, true],
    ["when new clusters may be held", { maxNew: 5 }, true],
    ["when its partitions may hold something", { partitions: [{ clusterSelector: {} }] }, true],
    ["not without a strategy", undefined, false],
    ["not with an empty strategy", {}, false],
    ["not when its limits let everything through", { maxUnavailable: "100%" }, false],
    ["not when as many may be unavailable as there are", { maxUnavailable: 2 }, false],
  ];
  for (const [what, rolloutStrategy, isReconciled] of rows)
    test(what, () => {
      const { caches, keys } = start(({ bundles, clusters, deployments }) => {
        bundles.saw(aBundle({ rolloutStrategy }));
        for (const name of ["paris", "rome"]) clusters.saw(aCluster(name));
        deployments.saw(aDeployment("paris"));
      });
      keys.length = 0;

      caches.deployments.saw(reported(false));
      caches.deployments.saw(reported(true));

      assert.deepEqual(keys, isReconciled ? [bundle, bundle] : []);
    });

  test("not when only something else changed", () => {
    const { caches, keys } = start(({ bundles, clusters, deployments }) => {
      bundles.saw(aBundle({ rolloutStrategy: { maxUnavailable: 1 } }));
      for (const name of ["paris", "rome"]) clusters.saw(aCluster(name));
      deployments.saw(reported(true));
    });
    keys.length = 0;

    const { status, ...deployment } = reported(true);
    const metadata = { ...deployment.metadata, resourceVersion: "4" };
    caches.deployments.saw({ ...deployment, metadata, status: { ...status, version: "1.2.4" } });

    assert.deepEqual(keys, []);
  });
});

test("an agent that connects enqueues the Bundles whose limits may hold something", () => {
  const withAgent = (connected: boolean, resourceVersion: string) => ({
    ...aCluster("paris", { metadata: { resourceVersion } }),
    status: { ...aCluster("paris").status, agent: { connected, epoch: 1 } },
  });
  const { caches, keys } = start(({ bundles, clusters }) => {
    bundles.saw(aBundle({ rolloutStrategy: { maxUnavailable: 1 } }));
    bundles.saw(aBundle({}, { name: "other" }));
    clusters.saw(aCluster("rome"));
    clusters.saw(withAgent(false, "2"));
  });
  keys.length = 0;

  caches.clusters.saw(withAgent(true, "3"));

  assert.deepEqual(keys, [bundle]);
});
