import assert from "node:assert/strict";
import { bundleDeployments, bundles, clusters } from "@flotilla/shared/api";
import {
  bundleNameLabel,
  bundleNamespaceLabel,
  clusterLabel,
  clusterNamespaceLabel,
} from "@flotilla/shared/api/names";
import { type HelmReleaseSpec, helmCharts, helmReleases } from "@flotilla/shared/flux";
import { describe, test } from "vitest";
import { aCluster, aDeployment } from "../../testing/index.ts";
import { aHelmRelease, createTestReleases, type TestReleases } from "./testing/index.ts";

const namespace = "apps";
const web = { namespace, name: "web" };
const targets = [{ clusterSelector: {} }];

/** The HelmRelease `apps/web` with its HelmChart and its Bundle, which is deployed to the cluster paris. */
async function deployed(spec: Partial<HelmReleaseSpec> = {}): Promise<TestReleases> {
  const releases = createTestReleases();
  releases.putHelmRepository();
  releases.rest.put(helmReleases, aHelmRelease({ targets, ...spec }));
  await releases.reconcile();
  releases.resolveChart();
  await releases.reconcile();
  connect(releases, true);
  const { metadata } = aDeployment("paris");
  releases.rest.put(bundleDeployments, {
    ...aDeployment("paris"),
    metadata: {
      ...metadata,
      labels: {
        [bundleNameLabel]: "helmrelease-web",
        [bundleNamespaceLabel]: namespace,
        [clusterLabel]: "paris",
        [clusterNamespaceLabel]: namespace,
      },
    },
  });
  return releases;
}

function connect({ rest }: TestReleases, connected: boolean): void {
  const cluster = aCluster("paris", { status: { agent: { connected } } });
  rest.put(clusters, { ...cluster, metadata: { ...cluster.metadata, namespace } });
}

async function deleteRelease({ rest }: TestReleases): Promise<void> {
  await rest.delete(helmReleases, web);
}

/** The Bundle's own finalizer is removed, as by its controller. */
function finishBundle({ rest }: TestReleases): void {
  rest.remove(bundles, { namespace, name: "helmrelease-web" });
}

function finishUninstall({ rest }: TestReleases): void {
  rest.remove(bundleDeployments, aDeployment("paris").metadata);
}

describe("a HelmRelease that is deleted", () => {
  test("deletes its Bundle, and stays until the connected clusters have uninstalled it", async () => {
    const releases = await deployed();
    await deleteRelease(releases);
    await releases.reconcile();
    assert.ok(releases.bundle()?.metadata.deletionTimestamp !== undefined);
    assert.notEqual(releases.bundle()?.spec.suspend, true);

    finishBundle(releases);
    await releases.reconcile();
    assert.ok(releases.release() !== undefined, "paris has it still");
    assert.ok(releases.chart() !== undefined);

    finishUninstall(releases);
    await releases.reconcile();
    assert.equal(releases.release(), undefined);
    assert.equal(releases.chart(), undefined);
  });

  test("does not wait for a cluster that is not connected", async () => {
    const releases = await deployed();
    await deleteRelease(releases);
    await releases.reconcile();
    finishBundle(releases);
    connect(releases, false);
    await releases.reconcile();
    assert.equal(releases.release(), undefined);
  });

  test("is reconciled again in case the clusters that it waits for disconnect", async () => {
    const releases = await deployed();
    await deleteRelease(releases);
    await releases.reconcile();
    finishBundle(releases);
    const waiting = await releases.reconcile();
    assert.equal(waiting.kind, "requeue");

    connect(releases, false);
    await releases.reconcile();
    assert.equal(releases.release(), undefined);
  });

  test("leaves its release where it is when it is suspended", async () => {
    const releases = await deployed();
    releases.rest.put(
      helmReleases,
      aHelmRelease({ targets, suspend: true }, releases.release()?.metadata),
    );
    await deleteRelease(releases);
    await releases.reconcile();
    assert.equal(releases.bundle()?.spec.suspend, true);

    finishBundle(releases);
    await releases.reconcile();
    assert.equal(releases.release(), undefined);
    assert.equal(releases.chart(), undefined);
    assert.deepEqual(releases.events, []);
  });

  test("deletes a Bundle that its cache does not have yet", async () => {
    const releases = createTestReleases();
    releases.rest.put(helmReleases, aHelmRelease({ targets }));
    await releases.reconcile();
    await deleteRelease(releases);
    const other = await deployed();
    const bundle = other.bundle();
    assert.ok(bundle !== undefined);
    releases.rest.beforeRead = () => {
      releases.rest.beforeRead = () => undefined;
      releases.rest.put(bundles, bundle);
    };

    const result = await releases.reconcile();
    assert.equal(result.kind, "requeue");
    assert.ok(releases.bundle()?.metadata.deletionTimestamp !== undefined);
    assert.ok(releases.release() !== undefined);
  });

  test("leaves a Bundle and a HelmChart of somebody else as they are", async () => {
    const releases = createTestReleases();
    const bundle = releases.rest.put(bundles, {
      metadata: { namespace, name: "helmrelease-web", uid: "uid-x", generation: 1 },
      spec: {},
    });
    const chart = releases.rest.put(helmCharts, {
      metadata: { namespace, name: "apps-web", uid: "uid-y", generation: 1 },
    });
    releases.rest.put(helmReleases, aHelmRelease({ targets }));
    await releases.reconcile();
    await deleteRelease(releases);
    await releases.reconcile();

    assert.equal(releases.release(), undefined);
    assert.deepEqual([releases.bundle(), releases.chart()], [bundle, chart]);
  });

  test("deletes the HelmChart that it had before it was changed to a rejected chartRef", async () => {
    const releases = await deployed();
    const known = releases.release();
    const chartRef = { kind: "OCIRepository", name: "web", namespace: "infra" } as const;
    releases.rest.put(
      helmReleases,
      aHelmRelease({ targets, chartRef }, { ...known?.metadata, generation: 2 }, known?.status),
    );
    await releases.reconcile();
    assert.equal(releases.accepted(), "False AccessDenied");

    await deleteRelease(releases);
    await releases.reconcile();
    finishBundle(releases);
    finishUninstall(releases);
    await releases.reconcile();
    assert.equal(releases.release(), undefined);
    assert.equal(releases.chart(), undefined);
  });

  test("before it got the finalizer is gone without a write", async () => {
    const releases = createTestReleases();
    releases.rest.put(helmReleases, aHelmRelease({ targets }));
    releases.rest.beforeWrite = () => releases.rest.remove(helmReleases, web);
    assert.deepEqual(await releases.reconcile(), { kind: "done" });
    assert.deepEqual([releases.chart(), releases.bundle()], [undefined, undefined]);
  });
});
