import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { aHelmOp } from "../../testing/index.ts";
import { type ReleaseStatus, releaseEvents } from "./status-events.ts";
import {
  condition,
  failing,
  installed,
  status,
  successIn,
  upgradeFailed,
} from "./testing/index.ts";

const helmOp = aHelmOp();

const upgraded = condition(
  "Released",
  "True",
  "UpgradeSucceeded",
  "3 of 3 clusters; fleet-default/oslo: Helm upgrade succeeded for release web/web.v2 with chart web@1.1.0",
);
const progressing = condition("Released", "Unknown", "Progressing");
const oslo = { deployment: "cluster-oslo/web", uid: "oslo" };
const failedAt = (content: string, version = "1.1.0"): ReleaseStatus => ({
  ...failing(1, [upgradeFailed], version),
  lastResults: {
    failure: { ...oslo, cluster: "fleet-default/oslo", content, message: "timed out" },
  },
});
const corrected = (object: string): ReleaseStatus => ({
  ...status([upgraded, condition("Drifted", "False", "DriftCorrected")]),
  lastResults: { drift: { ...oslo, object, result: "Corrected" } },
});
const testedAt = (revision: number): ReleaseStatus => ({
  ...status([upgraded, condition("TestSuccess", "True", "TestSucceeded")]),
  lastResults: { test: { ...oslo, release: `web/web:${revision}` } },
});
const rejected = condition("Accepted", "False", "Invalid");

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
    [
      "clusters that leave",
      status([installed]),
      status([{ ...installed, message: installed.message?.replace("3 of 3", "2 of 2") ?? "" }]),
      [],
    ],
    [
      "a cluster that joins",
      { ...status([installed], { waitApplied: 1 }), lastSuccess: successIn([installed]) },
      status([installed]),
      [],
    ],
    [
      "a cluster that joins and is the one that is named now",
      { ...status([progressing], { waitApplied: 1 }), lastSuccess: successIn([upgraded]) },
      {
        ...status([{ ...installed, message: installed.message?.replace("oslo", "bonn") ?? "" }]),
        lastSuccess: successIn([upgraded]),
      },
      [],
    ],
    [
      "a cluster that joins during an upgrade",
      { ...status([progressing], { waitApplied: 2 }), lastSuccess: successIn([installed]) },
      status([upgraded], {}, "1.1.0"),
      ["Normal UpgradeSucceeded"],
    ],
    [
      "a status of a hub that did not store what was released",
      { ...status([installed]), lastSuccess: undefined },
      status([installed]),
      [],
    ],
    [
      "an upgrade after such a status",
      { ...status([installed]), lastSuccess: undefined },
      status([upgraded], {}, "1.1.0"),
      ["Normal UpgradeSucceeded"],
    ],
    [
      "a cluster that leaves and was the one that is named",
      status([upgraded]),
      status([
        {
          ...upgraded,
          reason: "InstallSucceeded",
          message:
            "2 of 2 clusters; fleet-default/rome: Helm install succeeded for release web/web.v1 with chart web@1.1.0",
        },
      ]),
      [],
    ],
    [
      "an upgrade while the cluster leaves that is named",
      status([installed]),
      status([
        {
          ...upgraded,
          message:
            "2 of 2 clusters; fleet-default/rome: Helm upgrade succeeded for release web/web.v2 with chart web@1.1.0",
        },
      ]),
      ["Normal UpgradeSucceeded"],
    ],
    [
      "other values of the same chart",
      status([upgraded]),
      status([{ ...upgraded, message: upgraded.message?.replace("web.v2", "web.v3") ?? "" }]),
      ["Normal UpgradeSucceeded"],
    ],
    ["a first failure", status([progressing]), failing(1), ["Warning UpgradeFailed"]],
    ["a second failure of many", failing(1), failing(2), []],
    ["a ninth failure", failing(1), failing(9), []],
    ["a tenth failure", failing(9), failing(10), ["Warning UpgradeFailed"]],
    ["a hundredth failure", failing(10), failing(100), ["Warning UpgradeFailed"]],
    ["a thousand failures at once", undefined, failing(1_000), ["Warning UpgradeFailed"]],
    ["fewer failures", failing(100), failing(10), []],
    [
      "the failure of another content",
      failedAt("sha256:a", "1.2.0"),
      failedAt("sha256:b", "1.2.0"),
      ["Warning UpgradeFailed"],
    ],
    [
      "another version that was not tried yet",
      failedAt("sha256:a"),
      failedAt("sha256:a", "1.2.0"),
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
    ["a test of the next revision", testedAt(2), testedAt(3), ["Normal TestSucceeded"]],
    ["the same test", testedAt(2), testedAt(2), []],
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
      corrected("configmap.v1 web/a"),
      corrected("configmap.v1 web/b"),
      ["Normal DriftCorrected"],
    ],
    [
      "the same drift that is corrected again",
      corrected("configmap.v1 web/a"),
      corrected("configmap.v1 web/a"),
      [],
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
    const { lastResults } = failedAt("sha256:a");
    const [event] = releaseEvents(helmOp, undefined, { ...failing(1_000), lastResults });

    assert.equal(
      event?.note,
      "fleet-default/oslo: timed out; 1000 of 1000 clusters failed: fleet-default/c0, fleet-default/c1, fleet-default/c2, fleet-default/c3, fleet-default/c4, and 995 more",
    );
    assert.deepEqual(event.metadata, {
      "fleet.cattle.io/revision": "1.1.0",
      "fleet.cattle.io/cluster":
        "fleet-default/c0, fleet-default/c1, fleet-default/c2, fleet-default/c3, fleet-default/c4",
      "fleet.cattle.io/clusters": "0 of 1000 ready",
    });
  });

  test("say why it failed, without the time of the next attempt, which the summary has", () => {
    const message = "timed out; retrying at 2026-11-24T01:17:33Z";
    const nonReadyResources = [{ name: "fleet-default/oslo", bundleState: "ErrApplied", message }];
    const after = status([], { errApplied: 1, nonReadyResources });
    const { lastResults } = failedAt("sha256:a");

    assert.deepEqual(
      releaseEvents(helmOp, undefined, { ...after, lastResults }).map(({ note }) => note),
      ["fleet-default/oslo: timed out; 1 of 3 clusters failed: fleet-default/oslo"],
    );
  });

  test("of a recovery differ from those of the first success, which would make it a repeated event", () => {
    const [first] = releaseEvents(helmOp, status([progressing]), status([upgraded]));
    const [recovery] = releaseEvents(helmOp, failing(1, [upgraded]), status([upgraded]));

    assert.equal(recovery?.note, `recovered from a failure; ${first?.note}`);
  });
});
