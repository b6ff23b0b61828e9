/** The loop of Bundles over an API server in memory. */
import assert from "node:assert/strict";
import type { Bundle } from "@flotilla/shared/api/bundle.ts";
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import type { ClusterGroup } from "@flotilla/shared/api/cluster-group.ts";
import { bundleFinalizer } from "@flotilla/shared/api/names.ts";
import { bundleDeployments, bundles, clusters } from "@flotilla/shared/api/resources.ts";
import { maxContentBytes } from "@flotilla/shared/content/content.ts";
import { AppError, commonErrors } from "@flotilla/shared/errors/app-error.ts";
import { createStore } from "@flotilla/shared/kube/cache/store.ts";
import { kubeErrors } from "@flotilla/shared/kube/client/errors.ts";
import { aContext } from "@flotilla/shared/kube/testing/a-context.ts";
import {
  createMemoryApiServer,
  serverError,
} from "@flotilla/shared/kube/testing/memory-api-server.ts";
import { createFakeClock } from "@flotilla/shared/time/testing/fake-clock.ts";
import { test } from "vitest";
import { planBundle } from "../helmop/plan.ts";
import { createOutcomes } from "../status/intent.ts";
import { aBundle, aCluster, aDeployment, aHelmOp, httpPin, workspace } from "../testing/objects.ts";
import { listDeployments } from "./list-deployments.ts";
import { createContentPacker } from "./place.ts";
import type { PrepareBundle } from "./prepare.ts";
import { deployReconciler } from "./reconcile.ts";

const key = `${workspace}/web`;
const wanted = { repo: "https://charts.example.com", chart: "web", version: "~1.2" };

interface Circumstances {
  readonly values?: Readonly<Record<string, unknown>>;
  readonly status?: Bundle["status"];
  readonly prepare?: PrepareBundle;
}

const deployable: PrepareBundle = ({ spec }) => Promise.resolve({ kind: "deployable", spec });

/** The Bundle `web`, which goes to the cluster paris, and whoever has just come to lead. */
function setUp({ values = {}, status, prepare = deployable }: Circumstances = {}) {
  const rest = createMemoryApiServer();
  const stores = {
    bundles: createStore<Bundle>(),
    deployments: createStore<BundleDeployment>(),
    clusters: createStore<Cluster>(),
    groups: createStore<ClusterGroup>(),
  };
  const targets = [{ clusterSelector: {} }];
  const bundle = planBundle(aHelmOp({ targets }), [{ ...wanted, pin: httpPin("1.2.9") }]);
  const { spec } = bundle;
  const sized: Bundle = {
    ...bundle,
    spec: { ...spec, helm: { ...spec.helm, values } },
    ...(status !== undefined && { status }),
  };
  stores.bundles.set(rest.put(bundles, sized));
  stores.clusters.set(rest.put(clusters, aCluster("paris", { metadata: { uid: "uid-paris" } })));
  const outcomes = createOutcomes();
  const run = deployReconciler({
    rest,
    ...stores,
    contents: { ensure: () => Promise.resolve() },
    packer: createContentPacker(),
    prepare,
    forget: () => undefined,
    onWritten: () => undefined,
    markStatus: () => undefined,
    outcomes,
    events: { record: () => undefined, flush: () => Promise.resolve() },
    clock: createFakeClock(),
  });
  return {
    rest,
    stores,
    outcomes,
    reconcile: (signal = aContext().signal) => run(key, { ...aContext(), signal }),
    deployed: () => rest.peek(bundleDeployments, aDeployment("paris").metadata)?.spec,
  };
}

test("a deployment that another leader made, and of which the watch has not told yet, gets what is wanted", async () => {
  const { rest, outcomes, reconcile, deployed } = setUp();
  rest.put(bundleDeployments, aDeployment("paris"));
  const before = deployed()?.deploymentID;

  const first = await reconcile();
  assert.deepEqual(first, { kind: "requeue", afterMs: 0, why: "a deployment was there already" });
  assert.deepEqual(await reconcile(), { kind: "done" });

  assert.notEqual(deployed()?.deploymentID, before);
  assert.equal(outcomes.bundles.get(key)?.error, undefined);
});

test("a deployment of its name that is another's is left alone", async () => {
  const { rest, reconcile, deployed } = setUp();
  const foreign = aDeployment("paris", { metadata: { labels: {} } });
  rest.put(bundleDeployments, foreign);

  assert.deepEqual(await reconcile(), { kind: "done" });

  assert.deepEqual(deployed(), foreign.spec);
});

for (const [what, reason, isTold] of [
  ["a leader that ends", undefined, false],
  ["a leader that is none any more", new AppError(kubeErrors.LEADERSHIP_LOST, "lost"), false],
  ["a run that took too long", new AppError(kubeErrors.RECONCILE_TIMEOUT, "over 60 s"), true],
] as const) {
  test(`what ${what} could not write is ${isTold ? "" : "not "}told of the Bundle`, async () => {
    const { rest, outcomes, reconcile } = setUp();
    const ending = new AbortController();
    Object.assign(rest, {
      create: () => {
        ending.abort(reason);
        return Promise.reject(new AppError(commonErrors.CANCELLED, "create it: given up"));
      },
    });

    await assert.rejects(reconcile(ending.signal), { code: "CANCELLED" });

    const error = outcomes.bundles.get(key)?.error;
    assert.equal(error, isTold ? "create it: given up" : undefined);
  });
}

test("values that are larger than what is distributed are said to be, and nothing of them goes to an agent", async () => {
  const { outcomes, reconcile, deployed } = setUp({
    values: { text: "x".repeat(maxContentBytes) },
  });

  await assert.rejects(reconcile(), { code: "CONTENT_TOO_LARGE", retryable: false });

  const said = /options of release default\/web have \d+ bytes; the limit is 8388608/;
  assert.match(outcomes.bundles.get(key)?.error ?? "", said);
  assert.equal(deployed(), undefined);
});

const told = { observedGeneration: 1, summary: { ready: 1, desiredReady: 3 } };

test("of a Bundle that waits for a write of others is told what whoever led before told of it", async () => {
  const { outcomes, reconcile } = setUp({
    status: told,
    prepare: () => Promise.resolve({ kind: "waiting" }),
  });

  await reconcile();

  assert.deepEqual(outcomes.bundles.get(key), { generation: 1, targets: 3, waiting: 0 });
});

test("a Bundle that could not be handed out has as many targets as were told before", async () => {
  const { rest, outcomes, reconcile } = setUp({ status: told });
  rest.failNext(serverError(), serverError());

  await assert.rejects(reconcile());

  assert.equal(outcomes.bundles.get(key)?.targets, 3);
  assert.match(outcomes.bundles.get(key)?.error ?? "", /internal error/);
});

test("what could not be prepared once is not told by whoever has just come to lead, and the second time it is", async () => {
  const error = new AppError(commonErrors.CANCELLED, "list secrets: 503", { retryable: true });
  const { outcomes, reconcile } = setUp({
    status: told,
    prepare: () => Promise.resolve({ kind: "held", error }),
  });

  assert.deepEqual(await reconcile(), { kind: "requeue", afterMs: 5_000, why: "look again" });
  assert.equal(outcomes.bundles.get(key), undefined);

  assert.deepEqual(await reconcile(), { kind: "done" });
  assert.equal(outcomes.bundles.get(key)?.error, "list secrets: 503");
});

test("a Bundle that is deleted takes along a deployment of which our watch has not told yet, and none of another's", async () => {
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

test("a Bundle whose name is too long for a label, and which was refused for that, can be deleted", async () => {
  const rest = createMemoryApiServer();
  const name = "n".repeat(64);

  assert.deepEqual(await listDeployments(rest, aBundle({}, { name }), aContext().signal), []);
  assert.deepEqual(rest.reads, []);
});
