/** Somebody goes back to Flux: the fleet is removed, and what Flux's controllers have taken over stays. */
import assert from "node:assert/strict";
import { bundles } from "@flotilla/shared/api";
import { fluxFinalizer } from "@flotilla/shared/api/names";
import { helmReleases } from "@flotilla/shared/flux";
import { type Lease, leases, namespaces } from "@flotilla/shared/kube/objects";
import { afterAll, test } from "vitest";
import { configChart } from "../harness/chart-archive.ts";
import { commandsIn } from "../harness/flotilla-command.ts";
import { installedConfig } from "../harness/releases.ts";
import { waitForObject } from "../harness/wait.ts";
import { chartOf, startReleaseFleet } from "../helmrelease/release-fleet.ts";

const releases = await startReleaseFleet();
const { charts, fleet, hub, local } = releases;
charts.publish(await configChart("app", "1.0.0"));
await releases.createNamespace("apps");
await hub.create(namespaces, { metadata: { name: "flux-system" } });
const ref = { namespace: "apps", name: "web" };
const bundleRef = { namespace: "apps", name: "helmrelease-web" };
const flotilla = await commandsIn({ onTestFinished: afterAll });
const uninstall = () =>
  flotilla.run("uninstall", `--kubeconfig=${fleet.hubPlane.kubeconfig}`, "--yes");

test("flotilla uninstall beside Flux waits until the hub has left the releases to it, and then leaves HelmReleases and releases as they are", async () => {
  await releases.create(ref, chartOf("app"));
  await releases.ready(ref, "1.0.0");
  const installed = await installedConfig(local.client, "web", "apps");
  await fleet.stopHub();
  await hub.create<Lease>(leases, {
    metadata: { namespace: "flux-system", name: "helm-controller-leader-election" },
    spec: { holderIdentity: "helm-controller-1", leaseDurationSeconds: 35 },
  });

  const early = await uninstall();
  assert.equal(early.code, 1);
  assert.match(early.stderr, /Bundle apps\/helmrelease-web of a HelmRelease is not suspended/);
  await fleet.startHub();
  await waitForObject(hub, bundles, bundleRef, "suspended", ({ spec }) => spec.suspend === true);
  const { code, stdout, stderr } = await uninstall();

  assert.deepEqual([code, stderr], [0, ""]);
  assert.match(stdout, /Left as they are, because the Lease flux-system\/helm-controller-leader/);
  assert.doesNotMatch(stdout, /flotilla-flux-crds/);
  assert.equal(await hub.reader.get(bundles, bundleRef), undefined);
  const release = await hub.reader.get(helmReleases, ref);
  assert.deepEqual(
    [release?.metadata.deletionTimestamp, release?.metadata.finalizers],
    [undefined, [fluxFinalizer]],
  );
  assert.equal(
    (await installedConfig(local.client, "web", "apps"))?.metadata.uid,
    installed?.metadata.uid,
  );
});
