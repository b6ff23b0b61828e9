/** Flux's states of a release, and what follows in each: with HelmReleases, Helm and changes by hand. All tests share a fleet. */
import assert from "node:assert/strict";
import { gunzipSync, gzipSync } from "node:zlib";
import { forceRequestAnnotation, reconcileRequestAnnotation } from "@flotilla/shared/api/names";
import { configMaps, type Secret, secrets, serviceAccounts } from "@flotilla/shared/kube/objects";
import { test } from "vitest";
import { roleBindings } from "../harness/rbac.ts";
import { installedConfig, waitForRevision } from "../harness/releases.ts";
import { currentCondition, messageOf, waitForObject } from "../harness/wait.ts";
import { chartOf } from "./release-fleet.ts";
import { startSampleFleet } from "./sample-fleet.ts";

const releases = await startSampleFleet();
const { archive, client, conditionsOf, greetingOf, helm, hub } = releases;
const { install, readyAt, recordsOf, refOf } = releases;

test("absent: a release that somebody has uninstalled is installed again", async () => {
  await install("absent");
  await readyAt("absent", 1);
  const before = await installedConfig(client, "absent", "apps");

  await helm("uninstall", "absent");

  await waitForObject(
    client,
    configMaps,
    refOf("absent-config"),
    "installed again",
    ({ metadata }) => metadata.uid !== before?.metadata.uid,
  );
  await waitForRevision(client, "absent", 1, "deployed", "apps");
  const { status } = await readyAt("absent", 1);
  assert.equal(status?.history?.[0]?.action, "install");
  assert.deepEqual(await recordsOf("absent"), ["1 deployed"]);
});

test("unmanaged: a release that others have installed is upgraded on request, or as an account, and theirs is upgraded back", async () => {
  for (const name of ["unmanaged", "accounted"]) await helm("install", name, archive);
  const before = await installedConfig(client, "unmanaged", "apps");

  await install("unmanaged", { values: { greeting: "ours" } });
  await releases.waitForCondition(
    refOf("unmanaged"),
    "Stalled",
    "True",
    "Stalled",
    /revision 1, which this agent did not create .*no service account limits .*reconcile\.fluxcd\.io\/forceAt/,
  );
  await force("unmanaged");
  await readyAt("unmanaged", 2);
  await createAccount("deployer");
  await install("accounted", { serviceAccountName: "deployer" });
  await readyAt("accounted", 2);

  const after = await installedConfig(client, "unmanaged", "apps");
  assert.ok(before !== undefined && after !== undefined);
  assert.equal(after.metadata.uid, before.metadata.uid);
  assert.equal(after.data?.["greeting"], "ours");

  await helm("upgrade", "unmanaged", archive, "--set=greeting=theirs");

  await readyAt("unmanaged", 4);
  assert.equal(await greetingOf("unmanaged"), "ours");
});

test("out of sync: another version, other values, post-renderers and common metadata upgrade, and nothing else does", async () => {
  const name = "changed";
  await install(name);
  await readyAt(name, 1);

  await releases.patch(refOf(name), { interval: "2h", maxHistory: 4, timeout: "4m" });
  await readyAt(name, 1);
  await releases.patch(refOf(name), chartOf("sample", "1.1.0"));
  await readyAt(name, 2);
  await releases.patch(refOf(name), { values: { greeting: "other" } });
  await readyAt(name, 3);
  const patch = "- {op: add, path: /metadata/labels, value: {patched: yes-it-is}}";
  await releases.patch(refOf(name), {
    postRenderers: [{ kustomize: { patches: [{ target: { kind: "ConfigMap" }, patch }] } }],
  });
  await readyAt(name, 4);
  await releases.patch(refOf(name), { commonMetadata: { labels: { team: "a" } } });
  const { status } = await readyAt(name, 5);

  const config = await installedConfig(client, name, "apps");
  assert.deepEqual(config?.data, { version: "1.1.0", greeting: "other" });
  const { patched, team, ...labels } = config.metadata.labels ?? {};
  assert.deepEqual([patched, team], ["yes-it-is", "a"]);
  assert.deepEqual(Object.keys(labels), ["app.kubernetes.io/managed-by"]);
  assert.deepEqual(await recordsOf(name), [
    "2 superseded",
    "3 superseded",
    "4 superseded",
    "5 deployed",
  ]);
  const [newest, ...earlier] = status?.history ?? [];
  assert.deepEqual(
    [newest?.chartVersion, newest?.status, newest?.action, earlier[0]?.version],
    ["1.1.0", "deployed", "upgrade", 4],
  );
});

test("out of sync: values of an object without the label are read again on request", async () => {
  const name = "requested";
  await hub.create(configMaps, {
    metadata: refOf("unlabelled"),
    data: { "values.yaml": "greeting: first\n" },
  });
  await install(name, { valuesFrom: [{ kind: "ConfigMap", name: "unlabelled" }] });
  await readyAt(name, 1);
  const body = { data: { "values.yaml": "greeting: second\n" } };
  await hub.patch(configMaps, refOf("unlabelled"), { type: "merge", body });

  await releases.annotate(refOf(name), { [reconcileRequestAnnotation]: "again" });

  await readyAt(name, 2);
  assert.equal(await greetingOf(name), "second");
});

test("untested: the tests that filters select run after an installation and an upgrade, and are in the history", async () => {
  const name = "untested";
  await install(name, {
    test: { enable: true, filters: [{ name: `${name}-load`, exclude: true }] },
  });

  const installed = await readyAt(name, 1);
  await releases.patch(refOf(name), { values: { greeting: "again" } });
  const upgraded = await readyAt(name, 2);

  for (const { status } of [installed, upgraded]) {
    const { testHooks = {} } = status?.history?.[0] ?? {};
    assert.deepEqual(testHooks[`${name}-smoke`]?.phase, "Succeeded");
    assert.notEqual(testHooks[`${name}-load`]?.phase, "Succeeded");
  }
  assert.deepEqual(conditionsOf(upgraded), [
    "Ready=True TestSucceeded",
    "Released=True UpgradeSucceeded",
    "TestSuccess=True TestSucceeded",
  ]);
});

test("locked: a release that another Helm client has left pending is reported, and unlocked by forceAt", async () => {
  const name = "locked";
  await install(name, { timeout: "2s" });
  await readyAt(name, 1);
  await lock(name);

  const stalled = await releases.waitForCondition(
    refOf(name),
    "Stalled",
    "True",
    "PendingRelease",
    /revision 2 is pending-upgrade/,
  );
  assert.equal(currentCondition(stalled, "Ready")?.status, "False");

  await force(name);
  await readyAt(name, 3);
  assert.deepEqual(await recordsOf(name), ["1 superseded", "2 failed", "3 deployed"]);
});

test("drifted: not compared by default, reported with warn, corrected with enabled, and left alone where an object says so", async () => {
  for (const [name, mode] of [
    ["not-compared", undefined],
    ["warned", "warn"],
    ["corrected", "enabled"],
  ] as const) {
    await install(name, mode === undefined ? {} : { driftDetection: { mode } });
    await readyAt(name, 1);
    await change(name, { data: { greeting: "drifted" } });
  }

  const warned = await releases.waitForCondition(
    refOf("warned"),
    "Drifted",
    "True",
    "DriftDetected",
    /ConfigMap apps\/warned-config: \/data\/greeting was changed by somebody/,
  );
  assert.equal(currentCondition(warned, "Ready")?.status, "True", "drift alone is not a failure");
  const corrected = await releases.waitForCondition(
    refOf("corrected"),
    "Drifted",
    "False",
    "DriftCorrected",
  );
  assert.equal(await greetingOf("corrected"), "hello");
  assert.deepEqual(await recordsOf("corrected"), ["1 deployed"]);
  assert.equal(corrected.status?.history?.[0]?.version, 1);
  assert.equal(await greetingOf("warned"), "drifted");
  assert.equal(await greetingOf("not-compared"), "drifted");
  assert.equal(messageOf(await readyAt("not-compared", 1), "Drifted"), "");

  const annotations = { "helm.toolkit.fluxcd.io/driftDetection": "disabled" };
  await change("corrected", { metadata: { annotations }, data: { greeting: "mine" } });
  await change("warned", { data: { greeting: "hello" } });
  await releases.waitFor(
    refOf("warned"),
    "without drift",
    (release) => currentCondition(release, "Drifted")?.status !== "True",
  );
  assert.equal(await greetingOf("corrected"), "mine");
});

async function force(name: string): Promise<void> {
  const token = `force ${name}`;
  await releases.annotate(refOf(name), {
    [reconcileRequestAnnotation]: token,
    [forceRequestAnnotation]: token,
  });
}

/** With all rights in the namespace. */
async function createAccount(name: string): Promise<void> {
  await client.create(serviceAccounts, { metadata: refOf(name) });
  await client.create(roleBindings, {
    metadata: refOf(name),
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "admin" },
    subjects: [{ kind: "ServiceAccount", ...refOf(name) }],
  });
}

/** As somebody else. */
async function change(name: string, body: unknown): Promise<void> {
  const options = { fieldManager: "somebody" };
  await client.patch(configMaps, refOf(`${name}-config`), { type: "merge", body }, options);
}

/** Another Helm client has begun an upgrade, and was killed. */
async function lock(name: string): Promise<void> {
  const record = await client.reader.get(secrets, refOf(`sh.helm.release.v1.${name}.v1`));
  assert.ok(record !== undefined);
  const { "flotilla.dev/revision": _, ...labels } = record.metadata.labels ?? {};
  await client.create(secrets, {
    metadata: {
      ...refOf(`sh.helm.release.v1.${name}.v2`),
      labels: { ...labels, version: "2", status: "pending-upgrade" },
    },
    type: record.type ?? "",
    data: { release: pending(record) },
  });
}

function pending({ data }: Secret): string {
  const inner = Buffer.from(data?.["release"] ?? "", "base64").toString();
  const release = JSON.parse(gunzipSync(Buffer.from(inner, "base64")).toString());
  const info = { ...release.info, status: "pending-upgrade" };
  const packed = gzipSync(JSON.stringify({ ...release, version: 2, info })).toString("base64");
  return Buffer.from(packed).toString("base64");
}
