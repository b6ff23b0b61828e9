/** What follows a failed installation, upgrade or test of a HelmRelease: strategies and remediation. All tests share a fleet. */
import assert from "node:assert/strict";
import { bundleDeployments } from "@flotilla/shared/api";
import { clusterNamespaceName } from "@flotilla/shared/api/names";
import type { HelmReleaseSpec } from "@flotilla/shared/flux";
import { serviceAccounts } from "@flotilla/shared/kube/objects";
import { test } from "vitest";
import { waitForRevision } from "../harness/releases.ts";
import { currentCondition, waitForObject } from "../harness/wait.ts";
import { startSampleFleet } from "./sample-fleet.ts";

const releases = await startSampleFleet();
const { client, conditionsOf, greetingOf, hub, install, readyAt, recordsOf, refOf } = releases;

const remediated: Partial<HelmReleaseSpec> = {
  upgrade: { remediation: { remediateLastFailure: true } },
};

test("failed: a test that fails is remediated as a failed upgrade, unless test.ignoreFailures is set", async () => {
  const tests = { test: { enable: true }, ...remediated };
  await install("failing-test", tests);
  await readyAt("failing-test", 1);

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

  await install("ignored-test", {
    test: { enable: true, ignoreFailures: true },
    values: { tests: "fail" },
  });
  const ignored = await readyAt("ignored-test", 1);
  assert.deepEqual(conditionsOf(ignored), [
    "Ready=True InstallSucceeded",
    "Released=True InstallSucceeded",
    "TestSuccess=False TestFailed",
  ]);
});

test("failed: an installation is uninstalled and retried as often as its retries say, and then stays", async () => {
  const name = "uninstalled";
  await install(name, { values: { reject: true }, install: { remediation: { retries: 1 } } });

  const stalled = await releases.waitForCondition(
    refOf(name),
    "Stalled",
    "True",
    "RetriesExceeded",
    /2 attempts of the installation failed/,
  );

  assert.equal(currentCondition(stalled, "Released")?.reason, "InstallFailed");
  const { failures, installFailures, upgradeFailures } = stalled.status ?? {};
  assert.deepEqual([failures, installFailures, upgradeFailures], [2, 2, undefined]);
  assert.deepEqual(await recordsOf(name), ["1 failed"]);

  await releases.patch(refOf(name), { values: { reject: false } });
  const { status } = await readyAt(name, 2);
  assert.deepEqual([status?.failures, status?.installFailures], [undefined, undefined]);
});

test("failed: an upgrade is rolled back, and an upgrade whose remediation is uninstall is uninstalled and installed again", async () => {
  await install("rolled-back", remediated);
  await readyAt("rolled-back", 1);
  await releases.patch(refOf("rolled-back"), { values: { reject: true, greeting: "new" } });
  const rolledBack = await releases.waitForCondition(
    refOf("rolled-back"),
    "Remediated",
    "True",
    "RollbackSucceeded",
  );
  assert.equal(currentCondition(rolledBack, "Ready")?.status, "False");
  assert.equal(rolledBack.status?.upgradeFailures, rolledBack.status?.failures);
  assert.equal(await greetingOf("rolled-back"), "hello");

  await install("removed", {
    upgrade: { remediation: { remediateLastFailure: true, strategy: "uninstall" } },
  });
  await readyAt("removed", 1);
  await releases.patch(refOf("removed"), { values: { reject: true } });
  const removed = await releases.waitFor(
    refOf("removed"),
    "uninstalled",
    (release) => currentCondition(release, "Remediated")?.reason === "UninstallSucceeded",
  );
  const { history, inventory, upgradeFailures, installFailures } = removed.status ?? {};
  assert.deepEqual([history, inventory], [undefined, undefined], "nothing is there");
  assert.deepEqual([upgradeFailures, installFailures], [1, undefined]);
  const stalled = await releases.waitForCondition(
    refOf("removed"),
    "Stalled",
    "True",
    "RetriesExceeded",
    /^the installation failed/,
  );
  // The installation that followed the uninstall has failed.
  assert.deepEqual(await recordsOf("removed"), ["1 failed"]);
  assert.deepEqual([stalled.status?.upgradeFailures, stalled.status?.installFailures], [1, 1]);
});

test("failed: with RetryOnFailure an installation is retried as an upgrade after retryInterval, without a limit", async () => {
  const strategy = { name: "RetryOnFailure", retryInterval: "200ms" } as const;
  await install("retried", {
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

test("failed: a failure before Helm has written a record is not an attempt that counts, and is retried", async () => {
  const name = "unrendered";
  await install(name, { values: { fail: true }, install: { remediation: { retries: 0 } } });

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

  await hub.create(serviceAccounts, { metadata: refOf("powerless") });
  await install("denied", { serviceAccountName: "powerless" });
  for (const each of [name, "denied"]) {
    const released = await releases.waitForCondition(
      refOf(each),
      "Released",
      "False",
      "InstallFailed",
      each === name ? /these values are refused/ : /may not list secrets/,
    );
    assert.equal(currentCondition(released, "Ready")?.reason, "InstallFailed");
    assert.equal(released.status?.lastAttemptedReleaseAction, "install");
  }

  await install("upgraded", { upgrade: { remediation: { remediateLastFailure: true } } });
  await readyAt("upgraded", 1);
  await releases.patch(refOf("upgraded"), { values: { fail: true } });
  await releases.waitForCondition(refOf("upgraded"), "Released", "False", "UpgradeFailed");
  assert.deepEqual(await recordsOf("upgraded"), ["1 deployed"]);
});

test("failed: an upgrade without an earlier revision is stalled with MissingRollbackTarget", async () => {
  const strategy = { name: "RetryOnFailure", retryInterval: "100ms" } as const;
  await install("targetless", {
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

test("failed: without retries left it is tried again when it is suspended and resumed, as the users of Flux do", async () => {
  const name = "resumed";
  await install(name, { values: { reject: true } });
  await releases.waitForCondition(refOf(name), "Stalled", "True", "RetriesExceeded");
  assert.deepEqual(await recordsOf(name), ["1 failed"]);

  await releases.patch(refOf(name), { suspend: true });
  await waitForObject(
    hub,
    bundleDeployments,
    { namespace: clusterNamespaceName("fleet-local", "local"), name: "apps.helmrelease-resumed" },
    "suspended",
    ({ spec }) => spec.suspend === true,
  );
  await releases.patch(refOf(name), { suspend: false });

  await waitForRevision(client, name, 2, "failed", "apps");
  await releases.waitForCondition(refOf(name), "Stalled", "True", "RetriesExceeded");
});
