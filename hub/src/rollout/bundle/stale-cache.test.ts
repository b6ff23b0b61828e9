/** A newly elected leader whose watch of BundleDeployments lags behind what the last leader wrote. */
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
  type RolloutStrategy,
  type Schedule,
} from "@flotilla/shared/api";
import { bundleRollouts } from "@flotilla/shared/api/rollout";
import { createSemaphore } from "@flotilla/shared/concurrency";
import { createStore } from "@flotilla/shared/kube/cache";
import { aContext, createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { createPatterns } from "@flotilla/shared/regex";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { test } from "vitest";
import { createDeploymentSigner } from "../../rules/content/deployment-signature.ts";
import { bundleOf } from "../../rules/frontend/planned-bundle.ts";
import { createMappings } from "../../rules/mapping/mappings.ts";
import { createPinSigner } from "../../rules/resolve/pin-signature.ts";
import { createSchedules } from "../../rules/schedule/schedules.ts";
import { aCluster, aRelease, createTestCaches, httpPin, workspace } from "../../testing/index.ts";
import { createCoalescer } from "./coalesce.ts";
import { createContentPacker } from "./place.ts";
import { bundleReconciler } from "./reconcile.ts";
import { createReportPasses } from "./report-passes.ts";
import { testStagedRollouts } from "./testing/index.ts";

const key = `${workspace}/web`;
const reference = { repo: "https://charts.example.com", chart: "web", version: "~1.2" };
const names = ["c0", "c1", "c2", "c3", "c4", "c5"];

/** Six connected clusters, of which two may be unavailable. */
function setUp(rolloutStrategy: RolloutStrategy = { maxUnavailable: 2 }) {
  const clock = createFakeClock();
  const rest = createMemoryApiServer();
  const clusterStore = createStore<Cluster>();
  for (const name of names) {
    const cluster = aCluster(name, { metadata: { uid: `uid-${name}` } });
    const status = { ...cluster.status, agent: { connected: true, epoch: 1 } };
    clusterStore.set(rest.put(clusters, { ...cluster, status }));
  }

  /** A revision of the Bundle. */
  function publish(replicas: number): Bundle {
    const release = aRelease({
      targets: [{ clusterSelector: {} }],
      rolloutStrategy,
    });
    const bundle = bundleOf(release, { pins: [{ ...reference, pin: httpPin("1.2.9") }] });
    const { spec } = bundle;
    const helm = { ...spec.helm, values: { replicas } };
    return rest.put(bundles, {
      ...bundle,
      metadata: { ...bundle.metadata, uid: "uid-bundle" },
      spec: { ...spec, helm },
    });
  }

  /** A leader whose cache has what its watch delivered. */
  function elect(bundle: Bundle, delivered: readonly BundleDeployment[]) {
    const deployments = createStore<BundleDeployment>();
    for (const each of delivered) deployments.set(each);
    const bundleStore = createStore<Bundle>();
    bundleStore.set(bundle);
    let published: BundleStatus | undefined;
    const run = bundleReconciler({
      rest,
      bundles: bundleStore,
      deployments,
      clusters: clusterStore,
      groups: createStore<ClusterGroup>(),
      schedules: createSchedules({
        schedules: createStore<Schedule>(),
        groups: createStore<ClusterGroup>(),
      }),
      contents: { ensure: () => Promise.resolve() },
      values: { of: () => Promise.resolve(undefined), forget: () => undefined },
      packer: createContentPacker(),
      deploymentSigner: createDeploymentSigner(createPinSigner(Buffer.from("key"))),
      passes: createReportPasses(clock, createCoalescer(clusterStore, clock)),
      staged: testStagedRollouts(rest, clock),
      mappings: createMappings(createTestCaches()),
      policy: { policies: createStore<Policy>(), patterns: createPatterns() },
      prepare: ({ spec }) => Promise.resolve({ kind: "deployable", spec, remarks: [] }),
      policiesIn: () => [],
      access: { forget: () => undefined },
      statuses: {
        current: (object) => published ?? object.status,
        publish: (_, decided) => {
          published = decided;
        },
      },
      deploymentWrites: createSemaphore(2),
      onWritten: () => undefined,
      refresh: () => undefined,
      events: { record: () => undefined, flush: () => Promise.resolve() },
      clock,
    });
    return {
      deployments,
      published: () => published,
      reconcile: () => run(key, aContext()),
    };
  }

  /** Agents apply what was promoted, and become ready. */
  function report(isReady: (cluster: string) => boolean = () => true): void {
    for (const deployment of rest.all(bundleDeployments)) {
      const cluster = deployment.metadata.labels?.["fleet.cattle.io/cluster"] ?? "";
      const { deploymentID } = deployment.spec;
      if (isReady(cluster))
        rest.put(bundleDeployments, {
          ...deployment,
          status: { appliedDeploymentID: deploymentID, ready: true },
        });
    }
  }

  /** Clusters that have another content than the first one had. */
  function promotedSince(before: readonly BundleDeployment[]): readonly string[] {
    const contents = new Map(before.map(({ metadata, spec }) => [metadata.uid, spec.deploymentID]));
    return rest
      .all(bundleDeployments)
      .filter(({ metadata, spec }) => contents.get(metadata.uid) !== spec.deploymentID)
      .map(({ metadata }) => metadata.labels?.["fleet.cattle.io/cluster"] ?? "")
      .sort();
  }

  return { rest, publish, elect, report, promotedSince, all: () => rest.all(bundleDeployments) };
}

test("a newly elected leader exceeds no limit when its watch has not delivered what was promoted", async () => {
  const { rest, publish, elect, report, promotedSince, all } = setUp();
  await elect(publish(1), []).reconcile();
  report();
  const old = all();
  const next = publish(2);
  await elect(next, old).reconcile();
  assert.deepEqual(promotedSince(old), ["c0", "c1"]);

  const stale = elect(next, old);
  const before = rest.reads.length;
  await stale.reconcile();
  await stale.reconcile();

  assert.deepEqual(promotedSince(old), ["c0", "c1"]);
  assert.equal(stale.published()?.unavailable, 2);
  assert.deepEqual(rest.reads.slice(before), ["list bundledeployments "], "listed once");
});

test("nor a limit of a stage", async () => {
  const strategy = { stages: [{ name: "all", maxUnavailable: 2 }] };
  const { publish, elect, report, promotedSince, all } = setUp(strategy);
  const first = publish(1);
  for (let round = 0; round < 4; round += 1) {
    await elect(first, all()).reconcile();
    report();
  }
  const old = all();
  const next = publish(2);
  await elect(next, old).reconcile();
  assert.deepEqual(promotedSince(old), ["c0", "c1"]);

  const stale = elect(next, old);
  await stale.reconcile();
  await stale.reconcile();

  assert.deepEqual(promotedSince(old), ["c0", "c1"]);
});

test("nor does it end a rollback while clusters still have the revision", async () => {
  const strategy = { stages: [{ name: "all", maxUnavailable: 2 }] };
  const { rest, publish, elect, report, promotedSince, all } = setUp(strategy);
  const first = publish(1);
  for (let round = 0; round < 4; round += 1) {
    await elect(first, all()).reconcile();
    report();
  }
  const old = all();
  const next = publish(2);
  await elect(next, old).reconcile();
  assert.deepEqual(promotedSince(old), ["c0", "c1"]);
  const newest = rest.all(bundleRollouts).at(-1);
  assert.ok(newest);
  rest.put(bundleRollouts, { ...newest, spec: { ...newest.spec, state: "RolledBack" } });

  const stale = elect(next, old);
  await stale.reconcile();
  await stale.reconcile();

  assert.deepEqual(promotedSince(old), []);
});

test("a leader goes on where the last one ended, from what the API server has", async () => {
  const { publish, elect, report, promotedSince, all } = setUp();
  await elect(publish(1), []).reconcile();
  report();
  const old = all();
  const next = publish(2);
  await elect(next, old).reconcile();
  report((cluster) => cluster === "c0");

  await elect(next, old).reconcile();

  assert.deepEqual(promotedSince(old), ["c0", "c1", "c2"]);
});

test("a leader does not list the deployments of a Bundle that nothing limits", async () => {
  const { rest, publish, elect } = setUp();
  const bundle = publish(1);
  const { rolloutStrategy: _, ...spec } = bundle.spec;

  await elect({ ...bundle, spec }, []).reconcile();

  assert.equal(rest.all(bundleDeployments).length, names.length);
  assert.deepEqual(
    rest.reads.filter((read) => read.startsWith("list")),
    [],
  );
});
