import assert from "node:assert/strict";
import type { BundleSummary, Cluster, Condition } from "@flotilla/shared/api";
import { describe, test } from "vitest";
import { aCluster, aHelmOp } from "../testing/index.ts";
import { clusterEvents, type ReleaseStatus, releaseEvents } from "./status-events.ts";

const helmOp = aHelmOp();

function condition(
  type: string,
  status: Condition["status"],
  reason: string,
  message = `3 of 3 clusters; fleet-default/oslo: ${reason}`,
): Condition {
  return { type, status, reason, message };
}

function status(
  conditions: readonly Condition[],
  summary: Partial<BundleSummary> = { ready: 3, desiredReady: 3 },
  version = "1.0.0",
): ReleaseStatus {
  return { conditions, summary: { ready: 0, desiredReady: 3, ...summary }, version };
}

const installed = condition(
  "Released",
  "True",
  "InstallSucceeded",
  "3 of 3 clusters; fleet-default/oslo: Helm install succeeded for release web/web.v1 with chart web@1.0.0",
);
const upgraded = condition(
  "Released",
  "True",
  "UpgradeSucceeded",
  "3 of 3 clusters; fleet-default/oslo: Helm upgrade succeeded for release web/web.v2 with chart web@1.1.0",
);
const progressing = condition("Released", "Unknown", "Progressing");
const upgradeFailed = condition("Released", "False", "UpgradeFailed");
const upgradeFailedWith = (version: string) =>
  condition(
    "Released",
    "False",
    "UpgradeFailed",
    `1 of 3 clusters; fleet-default/oslo: Helm upgrade failed for release web/web with chart web@${version}: timed out`,
  );
const rejected = condition("Accepted", "False", "Invalid");

function failing(
  count: number,
  conditions: readonly Condition[] = [upgradeFailed],
  version = "1.1.0",
) {
  const named = Array.from({ length: Math.min(count, 10) }, (_, index) => ({
    name: `fleet-default/c${index}`,
    bundleState: "ErrApplied",
    message: "helm upgrade failed",
  }));
  return status(
    conditions,
    { errApplied: count, desiredReady: 1_000, nonReadyResources: named },
    version,
  );
}

/** `TYPE REASON` of each event. */
function between(before: ReleaseStatus | undefined, after: ReleaseStatus): readonly string[] {
  return releaseEvents(helmOp, before, after).map(({ type, reason }) => `${type} ${reason}`);
}

describe("the events of a release", () => {
  for (const [what, before, after, expected] of [
    ["an install", undefined, status([installed]), ["Normal InstallSucceeded"]],
    [
      "an install that waits for other clusters",
      undefined,
      status([installed], { waitApplied: 1 }),
      [],
    ],
    [
      "an upgrade",
      status([installed]),
      status([upgraded], {}, "1.1.0"),
      ["Normal UpgradeSucceeded"],
    ],
    ["an upgrade in progress", status([installed]), status([progressing]), []],
    [
      "an upgrade that ends",
      status([progressing]),
      status([upgraded]),
      ["Normal UpgradeSucceeded"],
    ],
    ["nothing new", status([upgraded]), status([upgraded]), []],
    [
      "a workload that is not ready for some time",
      status([upgraded], { notReady: 1 }),
      status([upgraded]),
      [],
    ],
    [
      "a cluster that goes offline",
      status([upgraded]),
      status([upgraded], { ready: 2, offline: 1 }),
      [],
    ],
    ["a first failure", status([progressing]), failing(1), ["Warning UpgradeFailed"]],
    ["a second failure of many", failing(1), failing(2), []],
    ["a ninth failure", failing(1), failing(9), []],
    ["a tenth failure", failing(9), failing(10), ["Warning UpgradeFailed"]],
    ["a hundredth failure", failing(10), failing(100), ["Warning UpgradeFailed"]],
    ["a thousand failures at once", undefined, failing(1_000), ["Warning UpgradeFailed"]],
    ["fewer failures", failing(100), failing(10), []],
    [
      "the failure of another version",
      failing(1, [upgradeFailedWith("1.1.0")], "1.2.0"),
      failing(1, [upgradeFailedWith("1.2.0")], "1.2.0"),
      ["Warning UpgradeFailed"],
    ],
    [
      "another version that was not tried yet",
      failing(1, [upgradeFailedWith("1.1.0")]),
      failing(1, [upgradeFailedWith("1.1.0")], "1.2.0"),
      [],
    ],
    [
      "a failure before Helm ran",
      status([installed]),
      failing(1, [installed]),
      ["Warning ReconciliationFailed"],
    ],
    [
      "a failure before Helm ran that is not retried",
      status([]),
      failing(1, [condition("Stalled", "True", "ValuesError")]),
      ["Warning ValuesError"],
    ],
    ["a spec that is rejected", status([]), status([rejected]), ["Warning Invalid"]],
    ["a spec that is still rejected", status([rejected]), status([rejected]), []],
    [
      "a spec that is rejected for another reason",
      status([rejected]),
      status([condition("Accepted", "False", "AccessDenied")]),
      ["Warning AccessDenied"],
    ],
    [
      "a source that is not ready, which has events of its own",
      status([]),
      status([condition("Accepted", "False", "SourceNotReady")]),
      [],
    ],
    [
      "a test that fails",
      status([progressing]),
      failing(1, [upgraded, condition("TestSuccess", "False", "TestFailed")]),
      ["Warning TestFailed"],
    ],
    [
      "a test that fails and is ignored",
      status([upgraded]),
      status([upgraded, condition("TestSuccess", "False", "TestFailed")]),
      ["Warning TestFailed"],
    ],
    [
      "a test that succeeds",
      status([upgraded]),
      status([upgraded, condition("TestSuccess", "True", "TestSucceeded")]),
      ["Normal TestSucceeded"],
    ],
    [
      "a rollback",
      failing(1),
      failing(1, [upgradeFailed, condition("Remediated", "True", "RollbackSucceeded")]),
      ["Normal RollbackSucceeded"],
    ],
    [
      "a rollback that fails",
      failing(1),
      failing(1, [upgradeFailed, condition("Remediated", "False", "RollbackFailed")]),
      ["Warning RollbackFailed"],
    ],
    ["a recovery", failing(1, [upgraded]), status([upgraded]), ["Normal UpgradeSucceeded"]],
    [
      "drift",
      status([upgraded]),
      status([upgraded, condition("Drifted", "True", "DriftDetected")]),
      ["Warning DriftDetected"],
    ],
    [
      "the same drift in more clusters",
      status([
        upgraded,
        condition("Drifted", "True", "DriftDetected", "1 of 3 clusters; fleet-default/oslo: a"),
      ]),
      status([
        upgraded,
        condition("Drifted", "True", "DriftDetected", "2 of 3 clusters; fleet-default/oslo: a"),
      ]),
      [],
    ],
    [
      "drift that is corrected",
      status([upgraded, condition("Drifted", "True", "DriftDetected")]),
      status([upgraded, condition("Drifted", "False", "DriftCorrected")]),
      ["Normal DriftCorrected"],
    ],
    [
      "other drift that is corrected",
      status([
        upgraded,
        condition("Drifted", "False", "DriftCorrected", "1 of 3 clusters; fleet-default/oslo: a"),
      ]),
      status([
        upgraded,
        condition("Drifted", "False", "DriftCorrected", "1 of 3 clusters; fleet-default/oslo: b"),
      ]),
      ["Normal DriftCorrected"],
    ],
    [
      "a correction that fails",
      status([upgraded]),
      status([upgraded, condition("Drifted", "True", "DriftCorrectionFailed")]),
      ["Warning DriftCorrectionFailed"],
    ],
    [
      "a release without drift",
      status([upgraded]),
      status([upgraded, condition("Drifted", "False", "NoDriftDetected")]),
      [],
    ],
  ] as const)
    test(`of ${what}: ${expected.join(", ") || "none"}`, () => {
      assert.deepEqual(between(before, after), expected);
    });

  test("have counts, the first clusters by name, and the version", () => {
    const [event] = releaseEvents(helmOp, undefined, failing(1_000));

    assert.equal(
      event?.note,
      "1000 of 1000 clusters failed: fleet-default/c0, fleet-default/c1, fleet-default/c2, fleet-default/c3, fleet-default/c4, and 995 more; fleet-default/oslo: UpgradeFailed",
    );
    assert.deepEqual(event.metadata, {
      "fleet.cattle.io/revision": "1.1.0",
      "fleet.cattle.io/cluster":
        "fleet-default/c0, fleet-default/c1, fleet-default/c2, fleet-default/c3, fleet-default/c4",
      "fleet.cattle.io/clusters": "0 of 1000 ready",
    });
  });

  test("have the same text for each attempt that fails in the same way", () => {
    const attempt = (message: string, conditions: readonly Condition[]) => {
      const name = "fleet-default/oslo";
      const nonReadyResources = [{ name, bundleState: "ErrApplied", message }];
      const after = status(conditions, { errApplied: 1, nonReadyResources });
      return releaseEvents(helmOp, undefined, after).map(({ note }) => note);
    };
    const released = condition("Released", "False", "InstallFailed", "helm install: no");

    assert.deepEqual(attempt("no retries are left: helm install: no", [released]), [
      "1 of 3 clusters failed: fleet-default/oslo; helm install: no",
    ]);
    for (const time of ["2026-11-24T01:17:33Z", "2026-11-24T01:18:03Z", "2026-11"])
      assert.deepEqual(attempt(`no Secret fleet-default/a; retrying at ${time}`, []), [
        "1 of 3 clusters failed: fleet-default/oslo; fleet-default/oslo: no Secret fleet-default/a",
      ]);
  });

  test("of a recovery differ from those of the first success, which would make it a repeated event", () => {
    const [first] = releaseEvents(helmOp, status([progressing]), status([upgraded]));
    const [recovery] = releaseEvents(helmOp, failing(1, [upgraded]), status([upgraded]));

    assert.equal(recovery?.note, `recovered from a failure; ${first?.note}`);
  });
});

describe("the events of a Cluster", () => {
  const cluster: Cluster = aCluster("oslo");
  const of = (reason: string) => ({
    conditions: [{ type: "Ready", status: "Unknown", reason, message: `about ${reason}` } as const],
    display: { readyBundles: "2/3" },
  });

  for (const [before, after, expected] of [
    ["Ready", "Offline", "Warning ClusterOffline about Offline"],
    ["NotReady", "Offline", "Warning ClusterOffline about Offline"],
    ["Offline", "Ready", "Normal ClusterOnline the agent is connected; 2/3 deployments are ready"],
    [
      "WaitCheckIn",
      "NotReady",
      "Normal ClusterOnline the agent is connected; 2/3 deployments are ready",
    ],
    ["Offline", "Offline", undefined],
    ["Ready", "NotReady", undefined],
    ["Offline", "ManagedElsewhere", undefined],
  ] as const)
    test(`from ${before} to ${after}: ${expected ?? "none"}`, () => {
      const [event] = clusterEvents(cluster, of(before), of(after));

      assert.equal(event && `${event.type} ${event.reason} ${event.note}`, expected);
      if (event !== undefined)
        assert.deepEqual(event.metadata, { "fleet.cattle.io/cluster": "fleet-default/oslo" });
    });

  test("are none for its first status", () => {
    assert.deepEqual(clusterEvents(cluster, undefined, of("Ready")), []);
  });
});

describe("the events of an object that is being deleted", () => {
  const deleted = { ...helmOp, metadata: { ...helmOp.metadata, deletionTimestamp: "2026" } };
  const failed = condition("Ready", "False", "UninstallFailed", "oslo: hook failed");
  const other = condition("Ready", "False", "UninstallFailed", "oslo: timed out");
  const rows: readonly (readonly [
    what: string,
    before: ReleaseStatus,
    after: ReleaseStatus,
    expected: readonly string[],
  ])[] = [
    ["are none while it is uninstalled", failing(1), status([installed]), []],
    [
      "have the first failure",
      status([installed]),
      status([installed, failed]),
      ["Warning UninstallFailed"],
    ],
    ["have it once", status([failed]), failing(1, [failed]), []],
    ["have another failure", status([failed]), status([other]), ["Warning UninstallFailed"]],
  ];
  test.each(rows)("%s", (_, before, after, expected) =>
    assert.deepEqual(
      releaseEvents(deleted, before, after).map(({ type, reason }) => `${type} ${reason}`),
      expected,
    ),
  );
});

test("an event has the chart with Flux's keys", () => {
  const chart = { version: "1.1.0", appVersion: "2.0", ociDigest: "sha256:ab" };
  const [event] = releaseEvents(helmOp, undefined, { ...status([installed]), ...chart });
  assert.deepEqual(event?.metadata, {
    "fleet.cattle.io/revision": "1.1.0",
    "fleet.cattle.io/app-version": "2.0",
    "fleet.cattle.io/oci-digest": "sha256:ab",
    "fleet.cattle.io/clusters": "3 of 3 ready",
  });
});

describe("the events of a HelmRelease that Helm is not run for", () => {
  const release = { ...helmOp, kind: "HelmRelease" };
  const ready = (reason: string, message = "why") => condition("Ready", "False", reason, message);
  const denied = (message: string) => [
    ready("AccessDenied", message),
    condition("Accepted", "False", "AccessDenied", message),
  ];
  const rows: readonly (readonly [
    what: string,
    before: ReleaseStatus | undefined,
    after: ReleaseStatus,
    expected: readonly string[],
  ])[] = [
    ["say why the hub rejects it", undefined, status(denied("a")), ["Warning AccessDenied"]],
    ["say it once", status(denied("a")), status(denied("a")), []],
    ["say what else", status(denied("a")), status(denied("b")), ["Warning AccessDenied"]],
    [
      "say that its values cannot be made, in place of what Helm did last",
      status([upgradeFailed]),
      failing(1, [upgradeFailed, ready("ValuesError")]),
      ["Warning ValuesError"],
    ],
    [
      "are no more for another attempt of an agent",
      failing(1, [ready("ValuesError", "retrying at 1")]),
      failing(1, [ready("ValuesError", "retrying at 2")]),
      [],
    ],
    [
      "say that it waits for another, which is no failure",
      undefined,
      status([ready("DependencyNotReady")], { waitApplied: 1 }),
      ["Normal DependencyNotReady"],
    ],
  ];
  test.each(rows)("%s", (_, before, after, expected) =>
    assert.deepEqual(
      releaseEvents(release, before, after).map(({ type, reason }) => `${type} ${reason}`),
      expected,
    ),
  );

  test("are not those of a HelmOp, which has its own", () =>
    assert.deepEqual(between(undefined, status([ready("ArtifactFailed")])), []));
});
