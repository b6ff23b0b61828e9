/** The hub beside Flux: a Lease of Flux's controllers decides who reconciles HelmReleases. All tests share a fleet. */
import assert from "node:assert/strict";
import { bundleDeployments } from "@flotilla/shared/api";
import { clusterNamespaceName, localNamespace } from "@flotilla/shared/api/names";
import { helmCharts, helmReleases, helmRepositories } from "@flotilla/shared/flux";
import { configMaps, type Lease, leases, namespaces } from "@flotilla/shared/kube/objects";
import { test } from "vitest";
import { configChart } from "../harness/chart-archive.ts";
import { endOfLog, lineInLog } from "../harness/log-file.ts";
import { installedConfig, releaseRecords } from "../harness/releases.ts";
import { waitForObject } from "../harness/wait.ts";
import { createWorkspace } from "../harness/workspace.ts";
import { chartOf, startReleaseFleet } from "./release-fleet.ts";

let flags: readonly string[] = [];
const releases = await startReleaseFleet({
  clusters: [{}],
  hubFlags: () => ["--local-without-account", ...flags],
});
const { charts, fleet, hub, local } = releases;
const { workspace } = fleet;
charts.publish(await configChart("app", "1.0.0"));
await releases.createNamespace("apps");
await hub.create(namespaces, { metadata: { name: "flux-system" } });
const fluxLease = { namespace: "flux-system", name: "helm-controller-leader-election" };

/** As helm-controller has it, which renews it while it runs. */
async function createFluxLease(): Promise<void> {
  await hub.create<Lease>(leases, {
    metadata: fluxLease,
    spec: { holderIdentity: "helm-controller-1", leaseDurationSeconds: 35 },
  });
}

const app = (name: string) => ({ namespace: "apps", name });

/** A HelmOp that becomes ready shows that the hub has reconciled what was created before it. */
async function deployHelmOp(name: string): Promise<void> {
  await workspace.createHelmOp(name, {
    helm: { repo: charts.url, chart: "app", version: "1.0.0" },
  });
  await workspace.waitUntilReady(name, "1.0.0", 1);
}

/** On the hub's own cluster, as the HelmReleases. */
const beside = createWorkspace(hub, localNamespace);

/** Deletes the ConfigMap of a release that corrects drift. */
async function deleteConfig(release: string, namespace = release): Promise<void> {
  await local.client.delete(configMaps, { namespace, name: `${release}-config` });
}

/** Resolves when the agent has been told to leave the release `before` as it is. */
async function suspendedBefore(): Promise<void> {
  await waitForObject(
    hub,
    bundleDeployments,
    { namespace: clusterNamespaceName(localNamespace, "local"), name: "apps.helmrelease-before" },
    "suspended",
    ({ spec }) => spec.suspend === true,
  );
}

const versionOf = async (name: string) =>
  (await hub.reader.get(helmReleases, app(name)))?.metadata.resourceVersion;

/** A tenant with the role `edit` in a namespace may do this. */
test("a Lease of that name in a tenant's own namespace changes nothing", async () => {
  await releases.create(app("before"), {
    ...chartOf("app"),
    driftDetection: { mode: "enabled" },
  });
  await releases.ready(app("before"), "1.0.0");
  const from = await endOfLog(fleet.hubLog);

  await hub.create<Lease>(leases, { metadata: { ...fluxLease, namespace: "apps" } });
  await lineInLog(fleet.hubLog, from, /in another namespace, which changes nothing/);

  await releases.patch(app("before"), { values: { greeting: "beside" } });
  await releases.waitFor(
    app("before"),
    "upgraded",
    ({ status }) => status?.history?.[0]?.version === 2,
  );
});

test("when Flux is started while the hub runs, the hub leaves what exists as it is, and goes on", async () => {
  const running = fleet.hubProcess();
  const installed = await installedConfig(local.client, "before", "apps");

  await createFluxLease();
  await suspendedBefore();
  const version = await versionOf("before");
  await releases.patch(app("before"), { values: { greeting: "not now" } });
  await deployHelmOp("op-before");

  assert.notEqual(await versionOf("before"), version);
  const status = (await hub.reader.get(helmReleases, app("before")))?.status;
  assert.notEqual(status?.observedGeneration, 3);
  assert.equal(
    (await installedConfig(local.client, "before", "apps"))?.metadata.uid,
    installed?.metadata.uid,
  );
  assert.equal((await releaseRecords(local.client, "apps", "before")).length, 2);
  assert.equal(running.exit(), undefined);
  assert.equal(fleet.hubProcess(), running);
});

test("while the Lease exists agents leave the releases of HelmReleases as they are, drift included, and correct those of HelmOps", async () => {
  await beside.createHelmOp("corrected", {
    helm: { repo: charts.url, chart: "app", version: "1.0.0" },
    correctDrift: { enabled: true },
  });
  await beside.waitUntilReady("corrected", "1.0.0", 1);

  await deleteConfig("before", "apps");
  await deleteConfig("corrected");

  const name = { namespace: "corrected", name: "corrected-config" };
  await waitForObject(local.client, configMaps, name, "back", () => true);
  assert.equal(await installedConfig(local.client, "before", "apps"), undefined);
});

test("a hub that starts while the Lease exists gives a HelmRelease and its source no finalizer, no status and no HelmChart, and HelmOps become ready", async () => {
  await fleet.stopHub();
  await fleet.startHub();
  await releases.createRepository(app("second"));
  await releases.create(app("waiting"), chartOf("app"));

  await deployHelmOp("op-beside");

  const [release, repository] = await Promise.all([
    hub.reader.get(helmReleases, app("waiting")),
    hub.reader.get(helmRepositories, app("second")),
  ]);
  assert.deepEqual(
    [release?.metadata.finalizers, release?.status],
    [undefined, { observedGeneration: -1 }],
  );
  assert.deepEqual(
    [repository?.metadata.finalizers, repository?.status],
    [undefined, { observedGeneration: -1 }],
  );
  assert.equal(await hub.reader.get(helmCharts, app("apps-waiting")), undefined);
  assert.deepEqual(await releaseRecords(local.client, "apps", "waiting"), []);
});

test("once the Lease is deleted the HelmReleases become ready, without a restart of the hub", async () => {
  const running = fleet.hubProcess();

  await hub.delete(leases, fluxLease);
  await releases.ready(app("waiting"), "1.0.0");

  const config = { namespace: "apps", name: "before-config" };
  await waitForObject(local.client, configMaps, config, "back", () => true);
  await releases.waitFor(
    app("before"),
    "upgraded",
    ({ status }) => status?.history?.[0]?.version === 3,
  );
  assert.equal(running.exit(), undefined);
  assert.equal(fleet.hubProcess(), running);
});

test("with --take-over-from-flux neither a Lease that exists nor one that appears changes anything", async () => {
  await fleet.stopHub();
  flags = ["--take-over-from-flux"];
  await createFluxLease();
  await fleet.startHub();

  await releases.create(app("taken-over"), chartOf("app"));
  await releases.ready(app("taken-over"), "1.0.0");

  await hub.delete(leases, fluxLease);
  await createFluxLease();
  await releases.create(app("still"), chartOf("app"));
  await releases.ready(app("still"), "1.0.0");
  assert.equal(fleet.hubProcess().exit(), undefined);
});
