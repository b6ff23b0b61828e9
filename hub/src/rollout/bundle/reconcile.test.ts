/** The reconciler of Bundles on an API server in memory. */
import assert from "node:assert/strict";
import {
  type Bundle,
  type BundleDeployment,
  type BundleStatus,
  bundleDeployments,
  bundles,
  type Cluster,
  type ClusterGroup,
  clusters,
  type Policy,
  type Schedule,
} from "@flotilla/shared/api";
import {
  bundleFinalizer,
  clusterManagementLabel,
  createdByNameLabel,
  createdByUserLabel,
} from "@flotilla/shared/api/names";
import { createSemaphore } from "@flotilla/shared/concurrency";
import { findCondition } from "@flotilla/shared/conditions";
import { maxContentBytes } from "@flotilla/shared/content";
import { AppError, commonErrors } from "@flotilla/shared/errors";
import { createStore } from "@flotilla/shared/kube/cache";
import { kubeErrors } from "@flotilla/shared/kube/client";
import { aContext, createMemoryApiServer, serverError } from "@flotilla/shared/kube/testing";
import { createPatterns } from "@flotilla/shared/regex";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { test } from "vitest";
import { createDeploymentSigner } from "../../rules/content/deployment-signature.ts";
import { notAccepted } from "../../rules/frontend/accepted.ts";
import { bundleOf } from "../../rules/frontend/planned-bundle.ts";
import { createMappings } from "../../rules/mapping/mappings.ts";
import { createPinSigner } from "../../rules/resolve/pin-signature.ts";
import { createSchedules } from "../../rules/schedule/schedules.ts";
import {
  aBundle,
  aCluster,
  aDeployment,
  aRelease,
  createTestCaches,
  httpPin,
  workspace,
} from "../../testing/index.ts";
import { createCoalescer } from "./coalesce.ts";
import { listDeployments } from "./deployment-writer.ts";
import { createContentPacker } from "./place.ts";
import type { PrepareBundle } from "./prepare.ts";
import { bundleReconciler } from "./reconcile.ts";
import { createReportPasses } from "./report-passes.ts";
import { testStagedRollouts } from "./testing/index.ts";

const key = `${workspace}/web`;
const reference = { repo: "https://charts.example.com", chart: "web", version: "~1.2" };

interface Circumstances {
  readonly values?: Readonly<Record<string, unknown>>;
  readonly status?: Bundle["status"];
  readonly prepare?: PrepareBundle;
}

const deployable: PrepareBundle = ({ spec }) =>
  Promise.resolve({ kind: "deployable", spec, remarks: [] });

/** The Bundle `web`, deployed to the cluster paris, and a newly elected leader. */
function setUp({ values = {}, status, prepare = deployable }: Circumstances = {}) {
  const rest = createMemoryApiServer();
  const stores = {
    bundles: createStore<Bundle>(),
    deployments: createStore<BundleDeployment>(),
    clusters: createStore<Cluster>(),
    groups: createStore<ClusterGroup>(),
  };
  const targets = [{ clusterSelector: {} }];
  const pins = [{ ...reference, pin: httpPin("1.2.9") }];
  const bundle = bundleOf(aRelease({ targets }), { pins });
  const { spec } = bundle;
  const sized: Bundle = {
    ...bundle,
    spec: { ...spec, helm: { ...spec.helm, values } },
    ...(status !== undefined && { status }),
  };
  stores.bundles.set(rest.put(bundles, sized));
  stores.clusters.set(rest.put(clusters, aCluster("paris", { metadata: { uid: "uid-paris" } })));
  let published: BundleStatus | undefined;
  const signer = createPinSigner(Buffer.from("key"));
  const deploymentSigner = createDeploymentSigner(signer);
  const clock = createFakeClock();
  const run = bundleReconciler({
    rest,
    ...stores,
    contents: { ensure: () => Promise.resolve() },
    values: { of: () => Promise.resolve(undefined), forget: () => undefined },
    packer: createContentPacker(),
    deploymentSigner,
    schedules: createSchedules({ ...stores, schedules: createStore<Schedule>() }),
    passes: createReportPasses(clock, createCoalescer({ size: 1 }, clock)),
    staged: testStagedRollouts(rest, clock),
    mappings: createMappings(createTestCaches()),
    policy: { policies: createStore<Policy>(), patterns: createPatterns() },
    prepare,
    policiesIn: () => [],
    access: { forget: () => undefined },
    statuses: {
      current: (object) => published ?? object.status,
      publish: (_, decided) => {
        published = decided;
      },
    },
    onWritten: () => undefined,
    deploymentWrites: createSemaphore(1),
    refresh: () => undefined,
    events: { record: () => undefined, flush: () => Promise.resolve() },
    clock,
  });
  return {
    rest,
    stores,
    /** The status that was published, if any. */
    published: () => published,
    /** Why the Bundle is not accepted. */
    rejection: () => {
      const accepted = findCondition(published?.conditions, "Accepted");
      return accepted?.status === "False" ? accepted.message : undefined;
    },
    reconcile: ({ signal = aContext().signal, retries = 0 } = {}) =>
      run(key, { ...aContext({ retries }), signal }),
    deployed: () => rest.peek(bundleDeployments, aDeployment("paris").metadata)?.spec,
  };
}

test("updates a deployment that another leader created and that the cache does not have yet", async () => {
  const { rest, rejection, reconcile, deployed } = setUp();
  rest.put(bundleDeployments, aDeployment("paris"));
  const before = deployed()?.deploymentID;

  const first = await reconcile();
  assert.deepEqual(first, { kind: "requeue", afterMs: 0, why: "a deployment existed already" });
  assert.deepEqual(await reconcile(), { kind: "done" });

  assert.notEqual(deployed()?.deploymentID, before);
  assert.equal(rejection(), undefined);
});

test("removes the label by which Rancher named the author, and no other", async () => {
  const { rest, stores, reconcile } = setUp();
  const bundle = stores.bundles.get(key);
  assert.ok(bundle);
  const labels = { ...bundle.metadata.labels, [createdByUserLabel]: "u-1" };
  const metadata = { ...bundle.metadata, labels: { ...labels, [createdByNameLabel]: "admin" } };
  stores.bundles.set(rest.put(bundles, { ...bundle, metadata }));

  await reconcile();

  assert.deepEqual(rest.peek(bundles, bundle.metadata)?.metadata.labels, labels);
  assert.deepEqual(rest.peek(bundles, bundle.metadata)?.metadata.finalizers, [bundleFinalizer]);
});

test("leaves the deployment of a cluster as it is that another system manages", async () => {
  const { rest, stores, reconcile } = setUp();
  await reconcile();
  const deployed = () => rest.peek(bundleDeployments, aDeployment("paris").metadata);
  const before = deployed();
  assert.ok(before !== undefined);
  stores.deployments.set(before);
  const managed = {
    uid: "uid-paris",
    labels: { [clusterManagementLabel]: "CLI" },
  };
  stores.clusters.set(rest.put(clusters, aCluster("paris", { metadata: managed })));
  const bundle = rest.peek(bundles, { namespace: workspace, name: "web" });
  assert.ok(bundle !== undefined);
  const spec = { ...bundle.spec, helm: { ...bundle.spec.helm, values: { replicas: 2 } } };
  stores.bundles.set(rest.put(bundles, { ...bundle, spec }));

  await reconcile();
  assert.deepEqual(deployed(), before);

  // Once it is ours again, what changed in the meantime is deployed.
  stores.clusters.set(
    rest.put(clusters, aCluster("paris", { metadata: { uid: managed.uid, labels: {} } })),
  );
  await reconcile();
  assert.notEqual(deployed()?.spec.deploymentID, before.spec.deploymentID);
});

test("leaves the deployment of a cluster that the cache does not have, as after a restore", async () => {
  const { rest, stores, reconcile } = setUp();
  await reconcile();
  const { metadata } = aDeployment("paris");
  const made = rest.peek(bundleDeployments, metadata);
  const paris = stores.clusters.get(`${workspace}/paris`);
  assert.ok(made !== undefined && paris !== undefined);
  stores.deployments.set(made);
  stores.clusters.remove(paris);

  await reconcile();

  assert.deepEqual(rest.peek(bundleDeployments, metadata), made);
});

test("does not change a deployment of the same name that belongs to another Bundle", async () => {
  const { rest, reconcile, deployed } = setUp();
  const foreign = aDeployment("paris", { metadata: { labels: {} } });
  rest.put(bundleDeployments, foreign);

  assert.deepEqual(await reconcile(), { kind: "done" });

  assert.deepEqual(deployed(), foreign.spec);
});

for (const [what, reason, isPublished] of [
  ["a leader that stops", undefined, false],
  [
    "a leader that lost its Lease",
    new AppError(kubeErrors.LEADERSHIP_LOST, "leadership lost"),
    false,
  ],
  ["a reconcile that timed out", new AppError(kubeErrors.RECONCILE_TIMEOUT, "over 60 s"), true],
] as const) {
  test(`a failed write of ${what} is ${isPublished ? "" : "not "}published`, async () => {
    const { rest, rejection, reconcile } = setUp();
    const ending = new AbortController();
    Object.assign(rest, {
      create: () => {
        ending.abort(reason);
        return Promise.reject(new AppError(commonErrors.CANCELLED, "create it: given up"));
      },
    });

    await assert.rejects(reconcile({ signal: ending.signal }), { code: "CANCELLED" });

    assert.equal(rejection(), isPublished ? "create it: given up" : undefined);
  });
}

test("rejects values above the size limit and deploys none of them", async () => {
  const { rejection, reconcile, deployed } = setUp({
    values: { text: "x".repeat(maxContentBytes) },
  });

  await assert.rejects(reconcile(), { code: "CONTENT_TOO_LARGE", retryable: false });

  const message = /options of release default\/web have \d+ bytes; the limit is 8388608/;
  assert.match(rejection() ?? "", message);
  assert.equal(deployed(), undefined);
});

const before: Bundle["status"] = {
  observedGeneration: 1,
  targets: 3,
  summary: { ready: 1, desiredReady: 3 },
  conditions: [{ type: "Accepted", status: "True", observedGeneration: 1 }],
};

test("keeps the status of a Bundle that its HelmOp is about to write", async () => {
  const { published, reconcile } = setUp({
    status: before,
    prepare: () => Promise.resolve({ kind: "waiting" }),
  });

  await reconcile();

  assert.equal(published(), undefined);
});

test("keeps the number of targets when the Bundle could not be deployed", async () => {
  const { rest, rejection, published, reconcile } = setUp({ status: before });
  rest.failNext(serverError(), serverError());

  await assert.rejects(reconcile({ retries: 10 }));

  assert.equal(published()?.targets, 3);
  assert.match(rejection() ?? "", /internal error/);
});

test("a failed read sets Accepted to False only after seconds of retries", async () => {
  const error = new AppError(commonErrors.CANCELLED, "list secrets: 503", { retryable: true });
  const { published, rejection, reconcile } = setUp({
    status: before,
    prepare: () =>
      Promise.resolve({ kind: "notAccepted", accepted: notAccepted(error), error, isRead: true }),
  });

  await assert.rejects(reconcile(), { message: "list secrets: 503" });
  await assert.rejects(reconcile({ retries: 9 }), { message: "list secrets: 503" });
  assert.equal(published(), undefined);

  assert.deepEqual(await reconcile({ retries: 10 }), { kind: "done" });
  assert.equal(rejection(), "list secrets: 503");
});

test("deleting a Bundle deletes a deployment that the cache does not have yet, and none of another Bundle", async () => {
  const { rest, stores, reconcile } = setUp();
  const known = stores.bundles.get(key);
  assert.ok(known !== undefined);
  const deletionTimestamp = "2026-01-01T00:00:00Z";
  const metadata = { ...known.metadata, deletionTimestamp, finalizers: [bundleFinalizer] };
  stores.bundles.set(rest.put(bundles, { ...known, metadata }));
  const own = rest.put(bundleDeployments, aDeployment("paris")).metadata;
  const other = rest.put(bundleDeployments, aDeployment("paris", { bundle: "other" })).metadata;

  assert.deepEqual(await reconcile(), { kind: "done" });

  assert.ok(rest.peek(bundleDeployments, own)?.metadata.deletionTimestamp);
  assert.equal(rest.peek(bundleDeployments, other)?.metadata.deletionTimestamp, undefined);
  assert.equal(rest.peek(bundles, known.metadata), undefined);
});

test("a Bundle whose name is too long for a label can be deleted", async () => {
  const rest = createMemoryApiServer();
  const name = "n".repeat(64);

  assert.deepEqual(await listDeployments(rest, aBundle({}, { name }), aContext().signal), []);
  assert.deepEqual(rest.reads, []);
});

test("only suspends what is deployed of a Bundle whose HelmRelease is gone", async () => {
  const { rest, stores, reconcile, deployed, published } = setUp({
    prepare: () => Promise.resolve({ kind: "held" }),
  });
  stores.deployments.set(rest.put(bundleDeployments, aDeployment("paris")));
  const before = deployed();
  const bundle = stores.bundles.get(key);
  assert.ok(bundle !== undefined);

  await reconcile();
  assert.deepEqual(deployed(), before);

  stores.bundles.set(rest.put(bundles, { ...bundle, spec: { ...bundle.spec, suspend: true } }));
  await reconcile();
  assert.deepEqual(deployed(), { ...before, suspend: true });
  assert.equal(published(), undefined);
});

test("publishes that an attempt takes long while it runs", async () => {
  const condition = { type: "Accepted", status: "False", reason: "Error", message: "no" } as const;
  const status = { observedGeneration: 1, conditions: [{ ...condition, observedGeneration: 1 }] };
  const published = Promise.withResolvers<void>();
  const { rejection, reconcile } = setUp({
    status,
    async prepare(_bundle, _status, { onRetrying }) {
      onRetrying?.(["no; trying again since 2026-01-01T00:00:00Z"]);
      await published.promise;
      return { kind: "waiting" };
    },
  });

  const running = reconcile();
  await new Promise(setImmediate);
  assert.equal(rejection(), "no; trying again since 2026-01-01T00:00:00Z");
  published.resolve();
  await running;
});
