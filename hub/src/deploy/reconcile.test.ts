/** The loop of Bundles over an API server in memory. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Bundle } from "@flotilla/shared/api/bundle.ts";
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import type { ClusterGroup } from "@flotilla/shared/api/cluster-group.ts";
import { bundleDeployments, bundles } from "@flotilla/shared/api/resources.ts";
import { createFakeClock } from "@flotilla/shared/clock/testing/fake-clock.ts";
import { maxContentBytes } from "@flotilla/shared/content/content.ts";
import { AppError, commonErrors } from "@flotilla/shared/errors/app-error.ts";
import { kubeErrors } from "@flotilla/shared/kube/errors.ts";
import { createStore } from "@flotilla/shared/kube/store.ts";
import { aContext } from "@flotilla/shared/kube/testing/a-context.ts";
import { planBundle } from "../helm-op/plan-bundle.ts";
import { bundleKeyOf } from "../rollup/tally.ts";
import { createOutcomes } from "../status/intent.ts";
import { createMemoryKube } from "../testing/memory-kube.ts";
import { aCluster, aDeployment, aHelmOp, httpPin, workspace } from "../testing/objects.ts";
import { createContentPacker } from "./place.ts";
import { byBundle, byNamespace, deployReconciler } from "./reconcile.ts";

const key = `${workspace}/web`;
const wanted = { repo: "https://charts.example.com", chart: "web", version: "~1.2" };

/** The Bundle `web`, which goes to the cluster paris. */
function setUp(values: Readonly<Record<string, unknown>> = {}) {
  const rest = createMemoryKube();
  const inNamespace = { [byNamespace]: () => [workspace] };
  const stores = {
    bundles: createStore<Bundle>(),
    deployments: createStore<BundleDeployment>({
      indexers: { [byBundle]: (deployment) => [bundleKeyOf(deployment)] },
    }),
    clusters: createStore<Cluster>({ indexers: inNamespace }),
    groups: createStore<ClusterGroup>({ indexers: inNamespace }),
  };
  const targets = [{ clusterSelector: {} }];
  const bundle = planBundle(aHelmOp({ targets }), [{ ...wanted, pin: httpPin("1.2.9") }]);
  const { spec } = bundle;
  const sized: Bundle = { ...bundle, spec: { ...spec, helm: { ...spec.helm, values } } };
  stores.bundles.set(rest.put(bundles, sized));
  stores.clusters.set(aCluster("paris", { metadata: { uid: "uid-paris" } }));
  const outcomes = createOutcomes();
  const run = deployReconciler({
    rest,
    ...stores,
    contents: { ensure: () => Promise.resolve() },
    packer: createContentPacker(),
    prepare: ({ spec }) => Promise.resolve({ kind: "deployable", spec }),
    forget: () => undefined,
    onWritten: () => undefined,
    markStatus: () => undefined,
    outcomes,
    events: { record: () => undefined, flush: () => Promise.resolve() },
    clock: createFakeClock(),
  });
  return {
    rest,
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
  const { outcomes, reconcile, deployed } = setUp({ text: "x".repeat(maxContentBytes) });

  await assert.rejects(reconcile(), { code: "CONTENT_TOO_LARGE", retryable: false });

  const said = /options for release default\/web take \d+ bytes, more than the 8388608 that are/;
  assert.match(outcomes.bundles.get(key)?.error ?? "", said);
  assert.equal(deployed(), undefined);
});
