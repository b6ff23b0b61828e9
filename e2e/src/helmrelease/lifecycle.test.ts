/** Names that change, order, health, expressions, and the end of HelmReleases. All tests share a fleet. */
import assert from "node:assert/strict";
import { helmReleases } from "@flotilla/shared/flux";
import {
  configMaps,
  type KubeObject,
  namespaces,
  type Resource,
  secrets,
  serviceAccounts,
} from "@flotilla/shared/kube/objects";
import { test } from "vitest";
import { chartArchive } from "../harness/chart-archive.ts";
import { configMapText, definitionText } from "../harness/object-text.ts";
import { roleBindings } from "../harness/rbac.ts";
import { installedConfig, releaseRecords } from "../harness/releases.ts";
import { currentCondition, waitForObject, waitUntilGone } from "../harness/wait.ts";
import { chartOf } from "./release-fleet.ts";
import { sampleChart } from "./sample-charts.ts";
import { startSampleFleet } from "./sample-fleet.ts";

const releases = await startSampleFleet(
  await sampleChart("1.0.0", "renamed"),
  await chartArchive({
    name: "parting",
    version: "1.0.0",
    templates: {
      "config.yaml": configMapText("{{ .Release.Name }}-config"),
      // It fails while its namespace does not exist.
      "hook.yaml": configMapText("parting", { namespace: "hooks", hook: "pre-delete" }),
    },
  }),
  await chartArchive({
    name: "widget",
    version: "1.0.0",
    crds: {
      "widgets.yaml": definitionText({ group: "lifecycle.example.com", kind: "Widget" }),
    },
    templates: {
      "widget.yaml":
        "apiVersion: lifecycle.example.com/v1\nkind: Widget\nmetadata: {name: '{{ .Release.Name }}'}\n",
    },
  }),
);
const { client, hub, install, local, readyAt, refOf } = releases;

const widgets: Resource<KubeObject> = {
  ...{ group: "lifecycle.example.com", version: "v1", kind: "Widget", plural: "widgets" },
  namespaced: true,
};

test("another releaseName, and another targetNamespace, uninstall the release first", async () => {
  await install("moved");
  await readyAt("moved", 1);

  await releases.patch(refOf("moved"), { releaseName: "other" });
  await releases.waitFor(
    refOf("moved"),
    "installed under another name",
    (release) =>
      currentCondition(release, "Ready")?.status === "True" &&
      release.status?.history?.[0]?.name === "other",
  );
  assert.deepEqual(await releaseRecords(client, "apps", "moved"), []);
  assert.equal(await installedConfig(client, "moved", "apps"), undefined);

  await releases.patch(refOf("moved"), {
    targetNamespace: "elsewhere",
    install: { createNamespace: true },
  });
  const { status } = await releases.waitFor(
    refOf("moved"),
    "installed elsewhere",
    (release) =>
      currentCondition(release, "Ready")?.status === "True" &&
      release.status?.storageNamespace === "elsewhere",
  );
  assert.equal(status?.history?.[0]?.namespace, "elsewhere");
  assert.equal(await installedConfig(client, "other", "apps"), undefined);
  assert.ok(await installedConfig(client, "other", "elsewhere"));
});

test("a chart with another name is installed again, and upgraded with chartNameChangeStrategy InPlaceUpdate", async () => {
  await install("again");
  await install("in-place", { upgrade: { chartNameChangeStrategy: "InPlaceUpdate" } });
  await Promise.all(["again", "in-place"].map((name) => readyAt(name, 1)));
  const uidOf = async (name: string) => (await installedConfig(client, name, "apps"))?.metadata.uid;
  const [again, inPlace] = [await uidOf("again"), await uidOf("in-place")];

  for (const name of ["again", "in-place"]) await releases.patch(refOf(name), chartOf("renamed"));

  await readyAt("in-place", 2);
  const { status } = await releases.waitFor(
    refOf("again"),
    "installed again",
    (release) =>
      currentCondition(release, "Ready")?.status === "True" &&
      release.status?.history?.[0]?.chartName === "renamed",
  );
  assert.equal(status?.history?.[0]?.version, 1);
  assert.notEqual(await uidOf("again"), again);
  assert.equal(await uidOf("in-place"), inPlace);
});

test("readyExpr: a dependency is met when the expression is true of both HelmReleases, also while it is not ready", async () => {
  await install("base", { values: { pod: true }, install: { disableWait: true } });
  await install("user", {
    values: { greeting: "1.0.0" },
    dependsOn: [
      {
        name: "base",
        readyExpr:
          "dep.status.history[0].chartVersion == '1.0.0' && self.metadata.name.endsWith('user')",
      },
    ],
  });

  await readyAt("user", 1);
});

test("an expression that cannot be compiled stalls with InvalidCELExpression, until it is changed", async () => {
  await install("first");
  await install("invalid", { dependsOn: [{ name: "first", readyExpr: "dep.status." }] });

  const stalled = await releases.waitForCondition(
    refOf("invalid"),
    "Stalled",
    "True",
    "InvalidCELExpression",
  );
  assert.equal(currentCondition(stalled, "Ready")?.status, "False");
  assert.equal(currentCondition(stalled, "Ready")?.reason, "InvalidCELExpression");

  await releases.patch(refOf("invalid"), { dependsOn: [{ name: "first" }] });
  await readyAt("invalid", 1);
});

test("healthCheckExprs decide when a custom resource is ready, and that it has failed", async () => {
  const name = "checked";
  await install(name, {
    ...chartOf("widget"),
    healthCheckExprs: [
      {
        apiVersion: "lifecycle.example.com/v1",
        kind: "Widget",
        inProgress: "!has(status.phase)",
        failed: "status.phase == 'Failed'",
        current: "status.phase == 'Running'",
      },
    ],
  });
  const setPhase = (phase: string) =>
    client.patch(widgets, refOf(name), { type: "merge", body: { status: { phase } } });
  await waitForObject(client, widgets, refOf(name), "created", () => true);
  await setPhase("Failed");
  await releases.waitFor(
    refOf(name),
    "not ready",
    (release) => currentCondition(release, "Ready")?.status !== "True",
  );
  await setPhase("Running");

  await readyAt(name, 1);
});

test("the end: a pre-delete hook that fails is repeated until it succeeds", async () => {
  const name = "parting";
  await install(name, chartOf("parting"));
  await readyAt(name, 1);

  await hub.delete(helmReleases, refOf(name));
  await releases.waitFor(refOf(name), "not uninstalled, naming the hook", ({ status }) =>
    /Hook pre-delete/.test(JSON.stringify([status?.conditions, status?.clusters])),
  );
  assert.ok(await installedConfig(client, name, "apps"));
  await client.create(namespaces, { metadata: { name: "hooks" } });

  await waitUntilGone(hub, helmReleases, refOf(name));
  assert.equal(await installedConfig(client, name, "apps"), undefined);
});

test("the end: one that was never installed, and one whose release is gone, are deleted at once", async () => {
  await install("never", { values: { tests: "{{" }, serviceAccountName: "nobody" });
  await releases.waitFor(
    refOf("never"),
    "waiting for its account",
    (release) => currentCondition(release, "Ready")?.status === "False",
  );
  await install("gone");
  await readyAt("gone", 1);
  await releases.patch(refOf("gone"), { suspend: true });
  for (const { name } of await releaseRecords(client, "apps", "gone"))
    await client.delete(secrets, refOf(name));
  await releases.patch(refOf("gone"), { suspend: false });

  for (const name of ["never", "gone"]) await releases.delete(refOf(name));
});

test("the end: a cluster that is offline is not waited for, and uninstalls when it returns", async () => {
  await install("away");
  await readyAt("away", 1);
  await local.stopAgent();

  await releases.delete(refOf("away"));
  assert.ok(await installedConfig(client, "away", "apps"));

  await local.startAgent();
  await waitUntilGone(client, configMaps, refOf("away-config"));
});

test("the end: without its service account nothing is uninstalled, and nothing hangs, also with the whole namespace", async () => {
  await releases.createNamespace("tenant");
  const account = { namespace: "tenant", name: "deployer" };
  await hub.create(serviceAccounts, { metadata: account });
  await hub.create(roleBindings, {
    metadata: account,
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "admin" },
    subjects: [{ kind: "ServiceAccount", ...account }],
  });
  const [first, second] = ["first", "second"].map((name) => ({ namespace: "tenant", name }));
  assert.ok(first !== undefined && second !== undefined);
  for (const ref of [first, second]) {
    await releases.create(ref, { ...chartOf("sample", "1.0.0"), serviceAccountName: account.name });
    await releases.ready(ref, "1.0.0");
  }

  await hub.delete(serviceAccounts, account);
  await releases.delete(first);
  assert.ok(await client.reader.get(configMaps, { namespace: "tenant", name: "first-config" }));

  await hub.delete(namespaces, { name: "tenant" });
  await waitUntilGone(hub, helmReleases, second);
  await waitUntilGone(hub, namespaces, { name: "tenant" });
});
