/** Flux's states of a release, and what follows in each: with HelmReleases, Helm and changes by hand. All tests share a fleet. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzipSync, gzipSync } from "node:zlib";
import { forceRequestAnnotation, reconcileRequestAnnotation } from "@flotilla/shared/api/names";
import type { HelmRelease, HelmReleaseSpec } from "@flotilla/shared/flux";
import { configMaps, type Secret, secrets, serviceAccounts } from "@flotilla/shared/kube/objects";
import { test } from "vitest";
import { roleBindings } from "../harness/rbac.ts";
import { installedConfig, releaseRecords, waitForRevision } from "../harness/releases.ts";
import { currentCondition, messageOf, waitForObject } from "../harness/wait.ts";
import { chartOf, startReleaseFleet } from "./release-fleet.ts";
import { sampleChart } from "./sample-charts.ts";

const releases = await startReleaseFleet();
const { charts, fleet, local } = releases;
const { client } = local;
const [old, recent] = [await sampleChart("1.0.0"), await sampleChart("1.1.0")];
charts.publish(old, recent);
await releases.createNamespace("apps");

const archive = join(fleet.dir, "sample.tgz");
await writeFile(archive, old.bytes);
const run = promisify(execFile);

async function helm(...args: readonly string[]): Promise<void> {
  const env = { PATH: process.env["PATH"], HOME: fleet.dir, KUBECONFIG: local.plane.kubeconfig };
  await run(fleet.helm, [...args, "--namespace=apps"], { env });
}

const refOf = (name: string) => ({ namespace: "apps", name });

async function create(name: string, spec: Partial<HelmReleaseSpec> = {}): Promise<void> {
  await releases.create(refOf(name), { ...chartOf("sample", "1.0.0"), ...spec });
}

/** Ready with this revision of Helm. */
function ready(name: string, revision: number): Promise<HelmRelease> {
  return releases.waitFor(
    refOf(name),
    `ready with revision ${revision}`,
    (release) =>
      currentCondition(release, "Ready")?.status === "True" &&
      release.status?.history?.[0]?.version === revision,
  );
}

async function greetingOf(name: string): Promise<string | undefined> {
  return (await installedConfig(client, name, "apps"))?.data?.["greeting"];
}

/** `REVISION STATUS` of Helm's records. */
async function recordsOf(name: string): Promise<readonly string[]> {
  const records = await releaseRecords(client, "apps", name);
  return records.map(({ revision, status }) => `${revision} ${status}`);
}

function conditionsOf({ status }: HelmRelease): readonly string[] {
  return (status?.conditions ?? [])
    .filter(({ type }) => type !== "Accepted")
    .map(({ type, status: value, reason }) => `${type}=${value} ${reason}`);
}

const remediated: Partial<HelmReleaseSpec> = {
  upgrade: { remediation: { remediateLastFailure: true } },
};

test("absent: a release that somebody has uninstalled is installed again", async () => {
  await create("absent");
  await ready("absent", 1);
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
  const { status } = await ready("absent", 1);
  assert.equal(status?.history?.[0]?.action, "install");
  assert.deepEqual(await recordsOf("absent"), ["1 deployed"]);
});

test("unmanaged: a release that others have installed is upgraded on request, or as an account, and theirs is upgraded back", async () => {
  for (const name of ["unmanaged", "accounted"]) await helm("install", name, archive);
  const before = await installedConfig(client, "unmanaged", "apps");

  await create("unmanaged", { values: { greeting: "ours" } });
  await releases.waitForCondition(
    refOf("unmanaged"),
    "Stalled",
    "True",
    "Stalled",
    /revision 1, which this agent did not create .*no service account limits .*reconcile\.fluxcd\.io\/forceAt/,
  );
  await force("unmanaged");
  await ready("unmanaged", 2);
  await createAccount("deployer");
  await create("accounted", { serviceAccountName: "deployer" });
  await ready("accounted", 2);

  const after = await installedConfig(client, "unmanaged", "apps");
  assert.ok(before !== undefined && after !== undefined);
  assert.equal(after.metadata.uid, before.metadata.uid);
  assert.equal(after.data?.["greeting"], "ours");

  await helm("upgrade", "unmanaged", archive, "--set=greeting=theirs");

  await ready("unmanaged", 4);
  assert.equal(await greetingOf("unmanaged"), "ours");
});

test("out of sync: another version, other values, post-renderers and common metadata upgrade, and nothing else does", async () => {
  const name = "changed";
  await create(name);
  await ready(name, 1);

  await releases.patch(refOf(name), { interval: "2h", maxHistory: 4, timeout: "4m" });
  await ready(name, 1);
  await releases.patch(refOf(name), chartOf("sample", "1.1.0"));
  await ready(name, 2);
  await releases.patch(refOf(name), { values: { greeting: "other" } });
  await ready(name, 3);
  const patch = "- {op: add, path: /metadata/labels, value: {patched: yes-it-is}}";
  await releases.patch(refOf(name), {
    postRenderers: [{ kustomize: { patches: [{ target: { kind: "ConfigMap" }, patch }] } }],
  });
  await ready(name, 4);
  await releases.patch(refOf(name), { commonMetadata: { labels: { team: "a" } } });
  const { status } = await ready(name, 5);

  const config = await installedConfig(client, name, "apps");
  assert.deepEqual(config?.data, { version: "1.1.0", greeting: "other" });
  const { patched, team, ...labels } = config.metadata.labels ?? {};
  assert.deepEqual([patched, team], ["yes-it-is", "a"]);
  assert.equal(labels["helm.toolkit.fluxcd.io/name"], name);
  assert.equal(labels["helm.toolkit.fluxcd.io/namespace"], "apps");
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

test("untested: the tests that filters select run after an installation and an upgrade, and are in the history", async () => {
  const name = "untested";
  await create(name, {
    test: { enable: true, filters: [{ name: `${name}-load`, exclude: true }] },
  });

  const installed = await ready(name, 1);
  await releases.patch(refOf(name), { values: { greeting: "again" } });
  const upgraded = await ready(name, 2);

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

test("failed: a test that fails is remediated as a failed upgrade, unless test.ignoreFailures is set", async () => {
  const tests = { test: { enable: true }, ...remediated };
  await create("failing-test", tests);
  await ready("failing-test", 1);

  await releases.patch(refOf("failing-test"), { values: { tests: "fail", greeting: "new" } });

  const failed = await releases.waitForCondition(
    refOf("failing-test"),
    "Stalled",
    "True",
    "RetriesExceeded",
  );
  assert.equal(currentCondition(failed, "Ready")?.status, "False");
  assert.equal(currentCondition(failed, "Remediated")?.reason, "RollbackSucceeded");
  assert.equal(currentCondition(failed, "TestSuccess")?.reason, "TestFailed");
  assert.equal(await greetingOf("failing-test"), "hello");

  await create("ignored-test", {
    test: { enable: true, ignoreFailures: true },
    values: { tests: "fail" },
  });
  const ignored = await ready("ignored-test", 1);
  assert.deepEqual(conditionsOf(ignored), [
    "Ready=True InstallSucceeded",
    "Released=True InstallSucceeded",
    "TestSuccess=False TestFailed",
  ]);
});

test("failed: an installation is uninstalled and retried as often as its retries say, and then stays", async () => {
  const name = "uninstalled";
  await create(name, { values: { reject: true }, install: { remediation: { retries: 1 } } });

  const stalled = await releases.waitForCondition(
    refOf(name),
    "Stalled",
    "True",
    "RetriesExceeded",
    /2 attempts of the installation failed/,
  );

  assert.equal(currentCondition(stalled, "Released")?.reason, "InstallFailed");
  assert.equal(stalled.status?.failures, 2);
  assert.deepEqual(await recordsOf(name), ["1 failed"]);

  await releases.patch(refOf(name), { values: { reject: false } });
  const { status } = await ready(name, 2);
  assert.equal(status?.failures ?? 0, 0);
});

test("failed: an upgrade is rolled back, and an upgrade whose remediation is uninstall is uninstalled and installed again", async () => {
  await create("rolled-back", remediated);
  await ready("rolled-back", 1);
  await releases.patch(refOf("rolled-back"), { values: { reject: true, greeting: "new" } });
  const rolledBack = await releases.waitForCondition(
    refOf("rolled-back"),
    "Remediated",
    "True",
    "RollbackSucceeded",
  );
  assert.equal(currentCondition(rolledBack, "Ready")?.status, "False");
  assert.equal(await greetingOf("rolled-back"), "hello");

  await create("removed", { upgrade: { remediation: { retries: 1, strategy: "uninstall" } } });
  await ready("removed", 1);
  await releases.patch(refOf("removed"), { values: { reject: true } });
  await releases.waitForCondition(refOf("removed"), "Stalled", "True", "RetriesExceeded");
  // The installation that followed the uninstall has failed.
  assert.deepEqual(await recordsOf("removed"), ["1 failed"]);
});

test("failed: with RetryOnFailure an installation is retried as an upgrade after retryInterval, without a limit", async () => {
  const strategy = { name: "RetryOnFailure", retryInterval: "200ms" } as const;
  await create("retried", {
    values: { reject: true },
    install: { strategy },
    upgrade: { strategy },
  });
  await waitForRevision(client, "retried", 3, "failed", "apps");
  const failing = await releases.waitForCondition(
    refOf("retried"),
    "Released",
    "False",
    "UpgradeFailed",
  );
  assert.equal(currentCondition(failing, "Stalled"), undefined);

  await releases.patch(refOf("retried"), { values: { reject: false } });
  await releases.ready(refOf("retried"), "1.0.0");
});

test("failed: a failure before Helm has written a record is no attempt that counts, and is retried", async () => {
  const name = "unrendered";
  await create(name, { values: { fail: true }, install: { remediation: { retries: 0 } } });

  const failing = await releases.waitForCondition(
    refOf(name),
    "Reconciling",
    "True",
    "ProgressingWithRetry",
    /these values are refused/,
  );

  assert.equal(currentCondition(failing, "Ready")?.status, "False");
  assert.equal(currentCondition(failing, "Stalled"), undefined);
  assert.equal(failing.status?.failures ?? 0, 0);
  assert.deepEqual(await recordsOf(name), []);
});

test("failed: an upgrade without an earlier revision is stalled with MissingRollbackTarget", async () => {
  const strategy = { name: "RetryOnFailure", retryInterval: "100ms" } as const;
  await create("targetless", {
    values: { reject: true },
    install: { strategy },
    upgrade: { remediation: { retries: 5 } },
  });

  await releases.waitForCondition(
    refOf("targetless"),
    "Stalled",
    "True",
    "MissingRollbackTarget",
    /no earlier revision to roll back to/,
  );
});

test("locked: a release that another Helm client has left pending is reported, and unlocked by forceAt", async () => {
  const name = "locked";
  await create(name, { timeout: "2s" });
  await ready(name, 1);
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
  await ready(name, 3);
  assert.deepEqual(await recordsOf(name), ["1 superseded", "2 failed", "3 deployed"]);
});

test("drifted: not compared by default, reported with warn, corrected with enabled, and left alone where an object says so", async () => {
  for (const [name, mode] of [
    ["not-compared", undefined],
    ["warned", "warn"],
    ["corrected", "enabled"],
  ] as const) {
    await create(name, mode === undefined ? {} : { driftDetection: { mode } });
    await ready(name, 1);
    await change(name, { data: { greeting: "drifted" } });
  }

  const warned = await releases.waitForCondition(
    refOf("warned"),
    "Drifted",
    "True",
    "DriftDetected",
    /ConfigMap apps\/warned-config: \/data\/greeting was changed by somebody/,
  );
  assert.equal(currentCondition(warned, "Ready")?.status, "True", "drift alone is no failure");
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
  assert.equal(messageOf(await ready("not-compared", 1), "Drifted"), "");

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
