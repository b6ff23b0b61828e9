/** What users of Flux read of HelmReleases: their status, Events and metrics, and what is wrong with them. All tests share a fleet. */
import assert from "node:assert/strict";
import { startTestRegistry } from "@flotilla/local/testing";
import { reconcileRequestAnnotation } from "@flotilla/shared/api/names";
import { helmReleases, helmRepositories, ociRepositories } from "@flotilla/shared/flux";
import {
  configMaps,
  type Event,
  events,
  namespaces,
  type ObjectRef,
  secrets,
} from "@flotilla/shared/kube/objects";
import { afterAll, test } from "vitest";
import { metricsOf } from "../credentials/find-secrets.ts";
import { startAuthenticatedCharts } from "../harness/authenticated-charts.ts";
import { type ChartArchive, chartArchive, configChart } from "../harness/chart-archive.ts";
import { pushChart } from "../harness/push-chart.ts";
import { installedConfig } from "../harness/releases.ts";
import { waitForObject, waitUntilGone } from "../harness/wait.ts";
import { chartFiles, gitChart, startGitFleet } from "./git-fleet.ts";
import { chartOf } from "./release-fleet.ts";

const releases = await startGitFleet();
const { charts, fleet, hub, local } = releases;
charts.publish(await configChart("app", "1.0.0"), await leavingChart());
await releases.createGitNamespace("apps");
const refOf = (name: string) => ({ namespace: "apps", name });

/** It cannot be uninstalled before the namespace `hooks` exists. */
function leavingChart(): Promise<ChartArchive> {
  return chartArchive({
    name: "leaving",
    version: "1.0.0",
    templates: {
      "config.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: leaving}\n",
      "hook.yaml":
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: last, namespace: hooks, annotations: {helm.sh/hook: pre-delete}}\n",
    },
  });
}

/** The first Event of this reason, as soon as the hub has recorded it. */
async function eventOf({ namespace = "", name }: ObjectRef, reason: string): Promise<Event> {
  const isOurs = (event: Event) => event.regarding?.name === name && event.reason === reason;
  const { items, resourceVersion } = await hub.list(events, { namespace });
  const found = items.find(isOurs);
  if (found !== undefined) return found;
  const changes = hub.watch(events, { namespace, resourceVersion, timeoutSeconds: 60 });
  for await (const change of changes)
    if (change.type !== "BOOKMARK" && isOurs(change.object)) return change.object;
  throw new Error(`no Event ${reason} of ${namespace}/${name} within 60 s`);
}

async function greetingOf(name: string): Promise<string | undefined> {
  return (await installedConfig(local.client, name, "apps"))?.data?.["greeting"];
}

async function waitForGreeting(name: string, greeting: string): Promise<void> {
  const ref = { namespace: "apps", name: `${name}-config` };
  await waitForObject(
    local.client,
    configMaps,
    ref,
    `upgraded to ${greeting}`,
    ({ data }) => data?.["greeting"] === greeting,
  );
}

test("status.inventory, lastAttemptedReleaseAction, annotations of Events and gotk metrics are those of Flux", async () => {
  const ref = refOf("first");
  await releases.create(ref, chartOf("app"));
  const { status } = await releases.waitFor(
    ref,
    "ready with its inventory",
    (release) => release.status?.inventory !== undefined,
  );

  assert.deepEqual(status?.inventory, {
    entries: [{ id: "apps_first-config__ConfigMap", v: "v1" }],
  });
  assert.equal(status.lastAttemptedReleaseAction, "install");
  assert.equal(status.lastAttemptedRevision, "1.0.0");
  assert.equal(status.lastAttemptedRevisionDigest, undefined);
  const installed = await eventOf(ref, "InstallSucceeded");
  assert.equal(
    installed.metadata.annotations?.["helm.toolkit.fluxcd.io/revision"],
    "1.0.0",
    JSON.stringify(installed),
  );
  const counts = async () =>
    (await metricsOf(fleet.hubProcess().identity.pid))
      .split("\n")
      .filter((line) => line.startsWith("gotk_reconcile_duration_seconds_count"));
  const labels = (kind: string, name: string) => `{kind="${kind}",name="${name}",namespace="apps"}`;
  const before = (await counts()).join("\n");
  for (const [kind, name] of [
    ["HelmRelease", "first"],
    ["HelmChart", "apps-first"],
    ["HelmRepository", "charts"],
  ] as const)
    assert.ok(before.includes(labels(kind, name)), before);

  await releases.delete(ref);

  assert.ok(!(await counts()).join("\n").includes(labels("HelmRelease", "first")));
});

test("ChartMutateError: the tag of an OCIRepository is another version than Chart.yaml; ociDigest once it is the same", async () => {
  const registry = await startTestRegistry({ onTestFinished: afterAll });
  await pushChart(fleet.helm, await configChart("oci", "1.0.0"), `${registry.oci}/charts`);
  const digest = await tagAgain(`${registry.url}/v2/charts/oci/manifests`, "1.0.0", "2.0.0");
  await hub.create(ociRepositories, {
    apiVersion: "source.toolkit.fluxcd.io/v1",
    kind: "OCIRepository",
    metadata: refOf("oci"),
    spec: {
      ...{ url: `${registry.oci}/charts/oci`, insecure: true, interval: "1h", timeout: "60s" },
      ...{ provider: "generic", ref: { tag: "2.0.0" } },
    },
  });
  await releases.create(refOf("oci"), { chartRef: { kind: "OCIRepository", name: "oci" } });
  await releases.waitForCondition(
    refOf("oci"),
    "Ready",
    "False",
    "ChartMutateError",
    /^OCIRepository 'apps\/oci' has no chart to install: artifact revision 2.0.0 does not match chart version 1.0.0$/,
  );
  assert.equal((await eventOf(refOf("oci"), "ChartMutateError")).type, "Warning");

  await hub.patch(ociRepositories, refOf("oci"), {
    type: "merge",
    body: { spec: { ref: { tag: "1.0.0" } } },
  });
  const version = `1.0.0+${digest.slice("sha256:".length).slice(0, 12)}`;
  const { status } = await releases.ready(refOf("oci"), version);

  assert.equal(status?.lastAttemptedRevisionDigest, digest);
  assert.equal(status.history?.[0]?.ociDigest, digest);
  const { metadata } = await eventOf(refOf("oci"), "InstallSucceeded");
  assert.equal(metadata.annotations?.["helm.toolkit.fluxcd.io/oci-digest"], digest);
});

/** Gives a manifest another tag; resolves with its digest. */
async function tagAgain(manifests: string, from: string, to: string): Promise<string> {
  const accept = "application/vnd.oci.image.manifest.v1+json";
  const found = await fetch(`${manifests}/${from}`, { headers: { accept } });
  const written = await fetch(`${manifests}/${to}`, {
    method: "PUT",
    headers: { "content-type": accept },
    body: await found.arrayBuffer(),
  });
  assert.equal(written.status, 201);
  return found.headers.get("docker-content-digest") ?? "";
}

test("a chart from Git gets its dependency from a repository with a password, of the HelmRepository of that address", async () => {
  const login = { username: "deps", password: "only for dependencies" };
  const guarded = await startAuthenticatedCharts(login);
  afterAll(() => guarded[Symbol.asyncDispose]());
  guarded.publish(await configChart("base", "1.0.0"));
  const repository = await releases.repository("shop");
  await repository.commit(
    chartFiles("charts/shop", "1.0.0", {
      "Chart.yaml": `apiVersion: v2\nname: shop\nversion: 1.0.0\ndependencies:\n- {name: base, version: 1.x, repository: "${guarded.origin}"}\n`,
      "templates/config.yaml": undefined,
    }),
  );
  await releases.createGit(refOf("shop"));
  await releases.create(refOf("shop"), gitChart("shop", "./charts/shop"));
  await releases.waitForCondition(
    refOf("shop"),
    "Ready",
    "False",
    "ArtifactFailed",
    /401 Unauthorized/,
  );

  await hub.create(secrets, { metadata: refOf("deps"), stringData: { ...login } });
  await releases.createRepository(refOf("deps"), {
    url: guarded.origin,
    secretRef: { name: "deps" },
  });
  await releases.ready(refOf("shop"), "1.0.0");

  assert.equal(await greetingOf("shop"), "hello");
  assert.ok(guarded.requestsBy(login).includes("/base-1.0.0.tgz"));
  await hub.delete(helmRepositories, refOf("deps"));
});

test("UninstallFailed while its release cannot be uninstalled, and an Event UninstallSucceeded at the end", async () => {
  const ref = refOf("leaving");
  await releases.create(ref, chartOf("leaving"));
  await releases.ready(ref, "1.0.0");

  await hub.delete(helmReleases, ref);
  await releases.waitForCondition(ref, "Ready", "False", "UninstallFailed", /hooks/);
  const failed = await eventOf(ref, "UninstallFailed");
  assert.equal(failed.type, "Warning");
  await local.client.create(namespaces, { metadata: { name: "hooks" } });
  await waitUntilGone(hub, helmReleases, ref);

  const { type, note, metadata } = await eventOf(ref, "UninstallSucceeded");
  assert.equal(type, "Normal");
  assert.equal(
    note,
    "Helm uninstall succeeded for release apps/leaving.v1 with chart leaving@1.0.0",
  );
  assert.equal(metadata.annotations?.["helm.toolkit.fluxcd.io/revision"], "1.0.0");
});

test("ValuesError: an object of valuesFrom is deleted; its label has it read at once, and an optional one is left out", async () => {
  const labels = { "reconcile.fluxcd.io/watch": "Enabled" };
  const settings = (name: string, greeting: string) =>
    hub.create(configMaps, {
      metadata: { ...refOf(name), labels },
      data: { "values.yaml": `greeting: ${greeting}\n` },
    });
  await settings("required", "required");
  await settings("optional", "optional");
  await releases.create(refOf("settled"), {
    ...chartOf("app"),
    valuesFrom: [
      { kind: "ConfigMap", name: "required" },
      { kind: "ConfigMap", name: "optional", optional: true },
    ],
  });
  await releases.ready(refOf("settled"), "1.0.0");
  assert.equal(await greetingOf("settled"), "optional");

  await hub.delete(configMaps, refOf("optional"));
  await waitForGreeting("settled", "required");
  await hub.delete(configMaps, refOf("required"));
  await releases.waitForCondition(
    refOf("settled"),
    "Ready",
    "False",
    "ValuesError",
    /^ConfigMap apps\/required of the hub, which valuesFrom references, was deleted; the release stays as it is/,
  );
  assert.equal(await greetingOf("settled"), "required");
  assert.equal((await eventOf(refOf("settled"), "ValuesError")).type, "Warning");

  await settings("required", "again");
  await waitForGreeting("settled", "again");
  await releases.ready(refOf("settled"), "1.0.0");
});

test("an object of valuesFrom without the label is read again when a reconcile is requested", async () => {
  await hub.create(configMaps, {
    metadata: refOf("unlabelled"),
    data: { "values.yaml": "greeting: first\n" },
  });
  await releases.create(refOf("asked"), {
    ...chartOf("app"),
    valuesFrom: [{ kind: "ConfigMap", name: "unlabelled" }],
  });
  await releases.ready(refOf("asked"), "1.0.0");
  assert.equal(await greetingOf("asked"), "first");

  await hub.patch(configMaps, refOf("unlabelled"), {
    type: "merge",
    body: { data: { "values.yaml": "greeting: second\n" } },
  });
  await releases.annotate(refOf("asked"), { [reconcileRequestAnnotation]: "now" });

  await waitForGreeting("asked", "second");
});
