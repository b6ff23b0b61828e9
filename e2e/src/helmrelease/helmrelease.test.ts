/** HelmReleases on the hub's own cluster, as Flux has them. All tests share a fleet. */
import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import { fluxFinalizer } from "@flotilla/shared/api/names";
import { helmCharts, helmRepositories } from "@flotilla/shared/flux";
import { configMaps, secrets } from "@flotilla/shared/kube/objects";
import { test } from "vitest";
import { configChart } from "../harness/chart-archive.ts";
import { installedConfig, releaseHistory, releaseRecords } from "../harness/releases.ts";
import { currentCondition, messageOf, waitForObject, waitUntilGone } from "../harness/wait.ts";
import { chartOf, startReleaseFleet } from "./release-fleet.ts";

const releases = await startReleaseFleet();
const { charts, hub, local } = releases;
charts.publish(await configChart("app", "1.0.0"));
await releases.createNamespace("apps");
const repository = { namespace: "apps", name: "charts" };

test("one without targets is installed on the hub's own cluster under its own name, in its own namespace", async () => {
  const ref = { namespace: "apps", name: "first" };
  await releases.create(ref, { ...chartOf("app"), values: { greeting: "hi" } });

  const { metadata, status } = await releases.ready(ref, "1.0.0");

  assert.deepEqual(metadata.finalizers, [fluxFinalizer]);
  assert.equal((await installedConfig(local.client, "first", "apps"))?.data?.["greeting"], "hi");
  assert.equal((await releaseRecords(local.client, "apps", "first")).length, 1);
  assert.equal(status?.observedGeneration, 1);
  assert.equal(status.helmChart, "apps/apps-first");
  assert.equal(status.storageNamespace, "apps");
  assert.equal(status.lastAttemptedRevision, "1.0.0");
  assert.deepEqual(
    status.clusters?.map(({ namespace, name, version }) => ({ namespace, name, version })),
    [{ namespace: "fleet-local", name: "local", version: "1.0.0" }],
  );
  const [newest, ...older] = status.history ?? [];
  assert.deepEqual(older, []);
  assert.deepEqual(
    [newest?.name, newest?.namespace, newest?.version, newest?.status, newest?.chartName],
    ["first", "apps", 1, "deployed", "app"],
  );
  assert.deepEqual(
    status.conditions?.map(({ type, status: value, reason }) => `${type}=${value} ${reason}`),
    ["Ready=True InstallSucceeded", "Accepted=True Accepted", "Released=True InstallSucceeded"],
  );
});

test("its values come from ConfigMaps and Secrets of its namespace, in Flux's order, and a change upgrades it", async () => {
  const ref = { namespace: "apps", name: "values" };
  await hub.create(configMaps, {
    metadata: {
      namespace: "apps",
      name: "defaults",
      labels: { "reconcile.fluxcd.io/watch": "Enabled" },
    },
    data: { "values.yaml": "greeting: from the ConfigMap\n" },
  });
  await hub.create(secrets, {
    metadata: { namespace: "apps", name: "password" },
    stringData: { word: "from the Secret", salaries: "of everybody" },
  });
  await releases.create(ref, {
    ...chartOf("app"),
    valuesFrom: [{ kind: "ConfigMap", name: "defaults" }],
  });
  await releases.ready(ref, "1.0.0");
  const greeting = async () =>
    (await installedConfig(local.client, "values", "apps"))?.data?.["greeting"];
  assert.equal(await greeting(), "from the ConfigMap");

  await hub.patch(
    configMaps,
    { namespace: "apps", name: "defaults" },
    { type: "merge", body: { data: { "values.yaml": "greeting: changed\n" } } },
  );
  await waitForObject(
    local.client,
    configMaps,
    { namespace: "apps", name: "values-config" },
    "upgraded",
    ({ data }) => data?.["greeting"] === "changed",
  );

  await releases.patch(ref, { values: { greeting: "inline" } });
  await waitForObject(
    local.client,
    configMaps,
    { namespace: "apps", name: "values-config" },
    "upgraded with the inline values",
    ({ data }) => data?.["greeting"] === "inline",
  );
  await releases.patch(ref, {
    valuesFrom: [
      { kind: "ConfigMap", name: "defaults" },
      { kind: "Secret", name: "password", valuesKey: "word", targetPath: "greeting" },
    ],
  });
  await waitForObject(
    local.client,
    configMaps,
    { namespace: "apps", name: "values-config" },
    "upgraded with the Secret",
    ({ data }) => data?.["greeting"] === "from the Secret",
  );
  const { status } = await releases.ready(ref, "1.0.0");
  assert.equal(status?.history?.[0]?.version, 4);
  assert.equal(status.history[0].action, "upgrade");
  assert.equal(
    currentCondition(await releases.ready(ref, "1.0.0"), "Ready")?.reason,
    "UpgradeSucceeded",
  );
  // The rest of the Secret never left the hub.
  const { items } = await local.client.list(secrets, {
    labelSelector: "flotilla.dev/referenced-object=true",
  });
  const received = items.map(({ data }) =>
    gunzipSync(Buffer.from(data?.["content"] ?? "", "base64")).toString(),
  );
  const asSent = (text: string) => Buffer.from(text).toString("base64");
  assert.equal(received.filter((text) => text.includes(asSent("from the Secret"))).length, 1);
  assert.deepEqual(
    received.filter((text) => text.includes(asSent("of everybody"))),
    [],
  );
});

test("a new chart version is deployed as soon as its HelmRepository is read, with one request for the index however many there are", async () => {
  charts.publish(await configChart("shared", "1.0.0"));
  const refs = ["one", "two", "three"].map((name) => ({ namespace: "apps", name }));
  await releases.requestRepository(repository);
  for (const ref of refs) await releases.create(ref, chartOf("shared", "1.x"));
  await Promise.all(refs.map((ref) => releases.ready(ref, "1.0.0")));
  charts.publish(await configChart("shared", "1.1.0"), await configChart("shared", "2.0.0"));
  const requests = () => charts.requests.filter((each) => each.endsWith("/index.yaml")).length;
  const before = requests();

  await releases.requestRepository(repository);
  await Promise.all(refs.map((ref) => releases.ready(ref, "1.1.0")));

  assert.equal(requests() - before, 1);
  for (const { name } of refs)
    assert.equal((await releaseRecords(local.client, "apps", name)).length, 2);
});

test("release names and namespaces are those of Flux", async () => {
  const ref = { namespace: "apps", name: "placed" };
  await releases.create(ref, {
    ...chartOf("app"),
    targetNamespace: "elsewhere",
    install: { createNamespace: true },
  });

  const { status } = await releases.ready(ref, "1.0.0");

  assert.deepEqual(
    [status?.history?.[0]?.name, status?.history?.[0]?.namespace],
    ["elsewhere-placed", "elsewhere"],
  );
  assert.deepEqual(await releaseHistory(local.client, "elsewhere"), ["1 deployed"]);
});

test("without createNamespace the namespace has to exist", async () => {
  const ref = { namespace: "apps", name: "nowhere" };
  await releases.create(ref, { ...chartOf("app"), targetNamespace: "missing" });
  await releases.waitFor(
    ref,
    "not ready, naming its namespace",
    (release) =>
      /missing/.test(messageOf(release, "Ready")) &&
      currentCondition(release, "Ready")?.status === "False",
  );
  await releases.delete(ref);
});

test("its deletion waits for the uninstall, and takes its HelmChart along and nothing else", async () => {
  const ref = { namespace: "apps", name: "leaving" };
  await releases.create(ref, chartOf("app"));
  await releases.ready(ref, "1.0.0");

  await releases.delete(ref);

  assert.equal(await installedConfig(local.client, "leaving", "apps"), undefined);
  assert.deepEqual(await releaseRecords(local.client, "apps", "leaving"), []);
  await waitUntilGone(hub, helmCharts, { namespace: "apps", name: "apps-leaving" });
  assert.ok((await hub.reader.get(helmRepositories, repository)) !== undefined);
});

test("one that is suspended while others go on is not upgraded until it is resumed, and stays installed when it is deleted", async () => {
  charts.publish(await configChart("incident", "1.0.0"));
  await releases.requestRepository(repository);
  const frozen = { namespace: "apps", name: "frozen" };
  const other = { namespace: "apps", name: "moving" };
  for (const ref of [frozen, other]) await releases.create(ref, chartOf("incident"));
  await Promise.all([frozen, other].map((ref) => releases.ready(ref, "1.0.0")));

  await releases.patch(frozen, { suspend: true });
  charts.publish(await configChart("incident", "1.1.0"));
  await releases.requestRepository(repository);
  await releases.ready(other, "1.1.0");
  assert.equal((await installedConfig(local.client, "frozen", "apps"))?.data?.["version"], "1.0.0");

  await releases.patch(frozen, { suspend: false });
  await releases.ready(frozen, "1.1.0");

  await releases.patch(frozen, { suspend: true });
  await releases.delete(frozen);
  assert.equal((await installedConfig(local.client, "frozen", "apps"))?.data?.["version"], "1.1.0");
});
