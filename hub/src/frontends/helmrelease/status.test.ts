import assert from "node:assert/strict";
import type { Condition } from "@flotilla/shared/api";
import { test } from "vitest";
import {
  aBundle,
  aDeployment,
  aggregated,
  decidedBundle,
  digestA,
  now,
} from "../../testing/index.ts";
import { decidedStatus } from "./decided-status.ts";
import { type HelmReleaseInputs, helmReleaseStatus, isUrgentHelmRelease } from "./status.ts";
import { aHelmRelease, resolvedWeb } from "./testing/index.ts";

type Given = Pick<Condition, "type" | "status"> & Partial<Condition>;

function inputsOf(conditions: readonly Given[], isReady: boolean): HelmReleaseInputs {
  const release = aHelmRelease();
  const deployment = aDeployment("paris", {
    status: {
      ...(isReady && { appliedDeploymentID: digestA, ready: true }),
      conditions,
    },
  });
  const { summary, offline, conditions: ofRelease } = aggregated([deployment]);
  return {
    release: { ...release, status: decidedStatus(release, undefined, { chart: resolvedWeb, now }) },
    bundle: decidedBundle(aBundle(), { targets: 1 }),
    ...{ summary, offline, conditions: ofRelease, deployments: [deployment], now },
    clusterOf: () => ({ name: "paris", state: "Ready" }),
  };
}

function shown(inputs: HelmReleaseInputs): readonly string[] {
  const { conditions = [] } = helmReleaseStatus(inputs) ?? {};
  return conditions
    .filter(({ type }) => ["Ready", "Reconciling", "Stalled"].includes(type))
    .map(({ type, status, reason }) => `${type}=${status} ${reason}`);
}

const released = (status: "True" | "False", reason: string): Given => ({
  ...{ type: "Released", status, reason, message: reason },
});

const rows: readonly (readonly [what: string, Given[], boolean, readonly string[]])[] = [
  ["installed", [released("True", "InstallSucceeded")], true, ["Ready=True InstallSucceeded"]],
  ["upgraded", [released("True", "UpgradeSucceeded")], true, ["Ready=True UpgradeSucceeded"]],
  [
    "tested",
    [
      released("True", "UpgradeSucceeded"),
      { type: "TestSuccess", status: "True", reason: "TestSucceeded", message: "1 of 1" },
    ],
    true,
    ["Ready=True TestSucceeded"],
  ],
  ["without a condition of the release", [], true, ["Ready=True ReconciliationSucceeded"]],
  [
    "failed to install",
    [released("False", "InstallFailed")],
    false,
    ["Reconciling=True ProgressingWithRetry", "Ready=False InstallFailed"],
  ],
  [
    "failed its tests",
    [
      released("True", "UpgradeSucceeded"),
      { type: "TestSuccess", status: "False", reason: "TestFailed", message: "1 failed" },
    ],
    false,
    ["Reconciling=True ProgressingWithRetry", "Ready=False TestFailed"],
  ],
  [
    "rolled back",
    [
      released("False", "UpgradeFailed"),
      { type: "Remediated", status: "True", reason: "RollbackSucceeded", message: "to 1" },
    ],
    false,
    ["Reconciling=True ProgressingWithRetry", "Ready=False RollbackSucceeded"],
  ],
  [
    "out of retries",
    [
      released("False", "UpgradeFailed"),
      { type: "Stalled", status: "True", reason: "RetriesExceeded", message: "2 of 2" },
    ],
    false,
    ["Stalled=True RetriesExceeded", "Ready=False UpgradeFailed"],
  ],
  [
    "waiting for another release",
    [
      { type: "Reconciling", status: "True", reason: "DependencyNotReady" },
      { type: "Ready", status: "False", message: "waiting for apps.helmrelease-db" },
    ],
    false,
    ["Reconciling=True ProgressingWithRetry", "Ready=False DependencyNotReady"],
  ],
  [
    "waiting for a Secret of the hub",
    [
      { type: "Reconciling", status: "True", reason: "Progressing" },
      { type: "Ready", status: "False", message: "waiting for the hub to send the Secret a" },
    ],
    false,
    ["Reconciling=True Progressing", "Ready=Unknown Progressing"],
  ],
  [
    "without its values, which are retried",
    [
      released("False", "UpgradeFailed"),
      { type: "Deployed", status: "False", reason: "ValuesError", message: "no key a" },
    ],
    false,
    ["Reconciling=True ProgressingWithRetry", "Ready=False ValuesError"],
  ],
  [
    "without an object of its values",
    [
      released("True", "UpgradeSucceeded"),
      { type: "Deployed", status: "False", reason: "Error", message: "deleted" },
      { type: "Stalled", status: "True", reason: "ValuesError", message: "deleted" },
    ],
    false,
    ["Stalled=True ValuesError", "Ready=False ValuesError"],
  ],
  [
    "without the dependency of its chart",
    [{ type: "Deployed", status: "False", reason: "ArtifactFailed", message: "dependency" }],
    false,
    ["Reconciling=True ProgressingWithRetry", "Ready=False ArtifactFailed"],
  ],
  [
    "locked by another client",
    [
      released("True", "UpgradeSucceeded"),
      { type: "Deployed", status: "False", reason: "Error", message: "locked" },
      { type: "Stalled", status: "True", reason: "PendingRelease", message: "locked" },
    ],
    false,
    ["Stalled=True PendingRelease", "Ready=False PendingRelease"],
  ],
  [
    "without its chart",
    [{ type: "Deployed", status: "False", reason: "ChartNotFetched", message: "HTTP 500" }],
    false,
    ["Reconciling=True ProgressingWithRetry", "Ready=False ArtifactFailed"],
  ],
  ["being installed", [], false, ["Reconciling=True Progressing", "Ready=Unknown Progressing"]],
];

test.each(rows)("a release that is %s", (_, conditions, isReady, expected) => {
  assert.deepEqual(shown(inputsOf(conditions, isReady)), expected);
});

const problems: readonly (readonly [reason: string, isStalled: boolean])[] = [
  ["AccessDenied", true],
  ["Invalid", true],
  ["PolicyViolation", true],
  ["NameTaken", true],
  ["SourceNotReady", false],
];

test.each(problems)("a HelmRelease with %s is stalled: %s", (reason, isStalled) => {
  const inputs = inputsOf([], true);
  const status = decidedStatus(inputs.release, undefined, {
    problem: { reason, message: "why" },
    now,
  });
  const next = { ...inputs, release: { ...inputs.release, status } };
  assert.deepEqual(shown(next), [
    isStalled ? `Stalled=True ${reason}` : "Reconciling=True ProgressingWithRetry",
    `Ready=False ${reason}`,
  ]);
});

test("the status of a suspended HelmRelease stays as it is", () => {
  const inputs = inputsOf([released("True", "InstallSucceeded")], true);
  const before = helmReleaseStatus(inputs);
  const suspended = aHelmRelease({ suspend: true }, { generation: 2 }, before);
  const failing = inputsOf([released("False", "UpgradeFailed")], false);
  assert.deepEqual(helmReleaseStatus({ ...failing, release: suspended }), before);
});

test("requests by annotation are handled together with the first reconcile after them", () => {
  const annotations = {
    "reconcile.fluxcd.io/requestedAt": "two",
    "reconcile.fluxcd.io/forceAt": "two",
    "reconcile.fluxcd.io/resetAt": "one",
  };
  const status = decidedStatus(aHelmRelease({}, { annotations }), undefined, {
    chart: resolvedWeb,
    now,
  });
  assert.equal(status.lastHandledReconcileAt, "two");
  assert.equal(status.lastHandledForceAt, "two");
  assert.equal(status.lastHandledResetAt, undefined);
  assert.equal(status.lastAttemptedRevision, "1.2.9");
  assert.equal(status.helmChart, "apps/apps-web");
});

test("a status without a chart is not urgent, because its source is ready soon; another failure is", () => {
  const statusWith = (problem: { readonly reason: string; readonly message: string }) => {
    const release = aHelmRelease();
    const status = decidedStatus(release, undefined, { problem, now });
    return helmReleaseStatus({ ...inputsOf([], false), release: { ...release, status } }) ?? status;
  };

  for (const [reason, isUrgent] of [
    ["SourceNotReady", false],
    ["PolicyViolation", true],
  ] as const)
    assert.equal(
      isUrgentHelmRelease(undefined, statusWith({ reason, message: "why" })),
      isUrgent,
      reason,
    );
});
