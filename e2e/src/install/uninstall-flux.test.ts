/** A fleet with HelmReleases is removed: nothing of Flux's kinds keeps a finalizer that nobody would remove. */
import assert from "node:assert/strict";
import { bundles } from "@flotilla/shared/api";
import { fluxFinalizer } from "@flotilla/shared/api/names";
import { helmCharts, helmReleases, helmRepositories, receivers } from "@flotilla/shared/flux";
import { fluxCrds } from "@flotilla/shared/flux/crd";
import {
  customResourceDefinitions,
  type KubeObject,
  type Resource,
  secrets,
} from "@flotilla/shared/kube/objects";
import { afterAll, test } from "vitest";
import { configChart } from "../harness/chart-archive.ts";
import { commandsIn } from "../harness/flotilla-command.ts";
import { installedConfig } from "../harness/releases.ts";
import { waitForObject, waitUntilGone } from "../harness/wait.ts";
import { chartOf, startReleaseFleet } from "../helmrelease/release-fleet.ts";

const releases = await startReleaseFleet();
const { charts, fleet, hub, local } = releases;
charts.publish(await configChart("app", "1.0.0"));
await releases.createNamespace("apps");
const refOf = (name: string) => ({ namespace: "apps", name });
const flotilla = await commandsIn({ onTestFinished: afterAll });
const uninstall = (...flags: readonly string[]) =>
  flotilla.run("uninstall", `--kubeconfig=${fleet.hubPlane.kubeconfig}`, ...flags);

test("flotilla uninstall deletes HelmReleases and Receivers, and leaves sources without a finalizer of Flux", async () => {
  await releases.create(refOf("web"), chartOf("app"));
  await releases.ready(refOf("web"), "1.0.0");
  await hub.create(secrets, { metadata: refOf("token"), stringData: { token: "secret" } });
  await hub.create(receivers, {
    apiVersion: "notification.toolkit.fluxcd.io/v1",
    kind: "Receiver",
    metadata: refOf("hook"),
    spec: {
      ...{ type: "generic", interval: "10m", secretRef: { name: "token" } },
      resources: [{ kind: "HelmRepository", name: "charts" }],
    },
  });
  await waitForObject(hub, receivers, refOf("hook"), "held by its finalizer", ({ metadata }) =>
    (metadata.finalizers ?? []).includes(fluxFinalizer),
  );
  await hub.patch(helmRepositories, refOf("charts"), {
    type: "merge",
    body: { metadata: { finalizers: [fluxFinalizer, "example.com/keep"] } },
  });

  const shown = await uninstall();
  assert.match(
    shown.stdout,
    /^This deletes 1 HelmRelease, 1 Bundle, .*1 Receiver.* and uninstalls/,
  );
  const { code, stderr } = await uninstall("--yes");

  assert.deepEqual([code, stderr], [0, ""]);
  assert.equal(await installedConfig(local.client, "web", "apps"), undefined);
  const kinds: readonly Resource<KubeObject>[] = [helmReleases, bundles, helmCharts, receivers];
  for (const resource of kinds)
    assert.deepEqual((await hub.list(resource, {})).items, [], resource.kind);
  const { metadata } = (await hub.reader.get(helmRepositories, refOf("charts"))) ?? {};
  assert.deepEqual(metadata?.finalizers, ["example.com/keep"]);
  await hub.patch(helmRepositories, refOf("charts"), {
    type: "merge",
    body: { metadata: { finalizers: null } },
  });
});

test("flotilla uninstall --keep-releases removes the finalizer of HelmReleases without a hub, so that their CRDs can be deleted", async () => {
  await releases.create(refOf("left"), chartOf("app"));
  await waitForObject(hub, helmReleases, refOf("left"), "held by its finalizer", ({ metadata }) =>
    (metadata.finalizers ?? []).includes(fluxFinalizer),
  );
  await fleet.stopHub();
  for (const { metadata } of fluxCrds()) await hub.delete(customResourceDefinitions, metadata);

  const { code, stderr } = await uninstall("--yes", "--keep-releases");

  assert.deepEqual([code, stderr], [0, ""]);
  for (const { metadata } of fluxCrds())
    await waitUntilGone(hub, customResourceDefinitions, metadata);
});
