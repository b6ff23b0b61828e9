import assert from "node:assert/strict";
import type { ReleaseRevision } from "@flotilla/shared/api";
import type { HelmReleaseStatus } from "@flotilla/shared/flux";
import { describe, test } from "vitest";
import { aBundle, aDeployment } from "../../testing/index.ts";
import { withReleaseFields } from "./release-fields.ts";

const digest = `sha256:${"a".repeat(64)}`;
const older = `sha256:${"b".repeat(64)}`;
const chart = { chartName: "web", status: "deployed", lastDeployed: "2026-01-02T00:00:00Z" };

function statusOf(before: HelmReleaseStatus, history: readonly ReleaseRevision[]) {
  const status = { release: "apps/web:2", history };
  return withReleaseFields(before, aDeployment("paris", { status }), undefined);
}

const first = { version: 1, chartVersion: "1.0.0+bbbbbbbbbbbb", action: "install", ...chart };
const second = { version: 2, chartVersion: "1.1.0+aaaaaaaaaaaa", action: "upgrade", ...chart };

describe("a HelmRelease with one cluster has", () => {
  test("history[].ociDigest of each revision whose artifact is known", () => {
    const installed = statusOf(
      { lastAttemptedRevision: first.chartVersion, lastAttemptedRevisionDigest: older },
      [first],
    );
    const upgraded = statusOf(
      {
        ...installed,
        lastAttemptedRevision: second.chartVersion,
        lastAttemptedRevisionDigest: digest,
      },
      [second, first],
    );
    assert.deepEqual(
      upgraded.history?.map((each) => each.ociDigest),
      [digest, older],
    );
  });

  test("no ociDigest where the chart is not from an OCIRepository", () => {
    const { history } = statusOf({ lastAttemptedRevision: first.chartVersion }, [first]);
    assert.ok(history?.[0] !== undefined && !("ociDigest" in history[0]));
  });

  const actions: readonly (readonly [string, readonly ReleaseRevision[], string | undefined])[] = [
    ["install", [first], "install"],
    ["upgrade", [second, first], "upgrade"],
    [
      "upgrade before a rollback",
      [{ ...first, version: 3, action: "rollback" }, second],
      "upgrade",
    ],
    ["none that it had before", [], "install"],
  ];
  test.each(actions)("lastAttemptedReleaseAction: the last %s", (_, history, expected) => {
    const before: HelmReleaseStatus =
      history.length === 0 ? { lastAttemptedReleaseAction: "install" } : {};
    assert.equal(statusOf(before, history).lastAttemptedReleaseAction, expected);
  });

  test("firstDeployed of the first revision that it has reported", () => {
    const installed = statusOf({}, [{ ...first, lastDeployed: "2026-01-01T00:00:00Z" }]);
    assert.equal(statusOf(installed, [second]).history?.[0]?.firstDeployed, "2026-01-01T00:00:00Z");
  });

  test("the name and namespace of its spec while no revision has succeeded", () => {
    const { history, storageNamespace } = withReleaseFields(
      {},
      aDeployment("paris", { status: { history: [{ ...first, status: "failed" }] } }),
      aBundle({ namespace: "shop", helm: { releaseName: "shop-web" } }),
    );
    assert.equal(storageNamespace, "shop");
    assert.deepEqual([history?.[0]?.namespace, history?.[0]?.name], ["shop", "shop-web"]);
    const failed = aDeployment("paris", { status: { history: [first] } });
    const unknown = withReleaseFields({}, failed, undefined);
    assert.ok(!("storageNamespace" in unknown), "an empty one is not valid");
  });

  const failing: readonly (readonly [string, readonly ReleaseRevision[], HelmReleaseStatus])[] = [
    ["installFailures of an installation", [first], { installFailures: 2 }],
    ["upgradeFailures of an upgrade", [second, first], { upgradeFailures: 2 }],
    [
      "upgradeFailures of an upgrade that was rolled back",
      [{ ...first, version: 3, action: "rollback" }, second],
      { upgradeFailures: 2 },
    ],
  ];
  test.each(failing)("%s", (_, history, expected) => {
    const deployment = aDeployment("paris", { status: { history, failures: 2 } });
    const before = { failures: 1, installFailures: 1, upgradeFailures: 1 };

    const { failures, installFailures, upgradeFailures } = withReleaseFields(
      before,
      deployment,
      undefined,
    );

    assert.deepEqual(
      { failures, installFailures, upgradeFailures },
      { failures: 2, installFailures: undefined, upgradeFailures: undefined, ...expected },
    );
  });

  test("installFailures of an installation that was uninstalled again", () => {
    const deployment = aDeployment("paris", { status: { failures: 1 } });
    const before: HelmReleaseStatus = { lastAttemptedReleaseAction: "install" };

    assert.equal(withReleaseFields(before, deployment, undefined).installFailures, 1);
  });

  test("the failures of each action, where the agent counts them", () => {
    const status = { failures: 2, installFailures: 1, upgradeFailures: 1 };
    const found = withReleaseFields({}, aDeployment("paris", { status }), undefined);

    assert.deepEqual([found.installFailures, found.upgradeFailures], [1, 1]);
  });

  test("nothing of a revision that was uninstalled again, and the action that was attempted", () => {
    const before: HelmReleaseStatus = { ...statusOf({}, [first]), failures: 1 };
    const found = withReleaseFields(
      { ...before, inventory: { entries: [{ id: "apps_web__ConfigMap", v: "v1" }] } },
      aDeployment("paris", {
        status: {
          ...{ appliedDeploymentID: "", failures: 1, installFailures: 0, upgradeFailures: 1 },
          conditions: [
            { type: "Released", status: "False", reason: "UpgradeFailed", message: "no" },
          ],
        },
      }),
      undefined,
    );

    assert.deepEqual(
      [found.history, found.inventory, found.installFailures, found.upgradeFailures],
      [undefined, undefined, undefined, 1],
    );
    assert.equal(found.lastAttemptedReleaseAction, "upgrade");
  });

  test("no failures any more once it has succeeded", () => {
    const found = statusOf({ failures: 2, installFailures: 2, upgradeFailures: 1 }, [first]);

    assert.deepEqual(
      ["failures", "installFailures", "upgradeFailures"].filter((field) => field in found),
      [],
    );
  });

  test("no inventory any more when the list of objects is cut", () => {
    const before = { inventory: { entries: [{ id: "apps_web__ConfigMap", v: "v1" }] } };
    assert.ok(!("inventory" in statusOf(before, [first])));
  });
});
