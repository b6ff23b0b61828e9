import assert from "node:assert/strict";
import type { DeploymentState, ReleaseCondition } from "@flotilla/proto";
import { findCondition } from "@flotilla/shared/conditions";
import { describe, test } from "vitest";
import { deployed } from "../../testing/index.ts";
import { statusOf } from "./testing/index.ts";

describe("the conditions and the history of a release", () => {
  const released: ReleaseCondition = {
    type: "Released",
    status: "True",
    reason: "UpgradeSucceeded",
    message: "done",
  };
  const stalled: ReleaseCondition = {
    type: "Stalled",
    status: "True",
    reason: "RetriesExceeded",
    message: "no",
  };

  test("are those of the report, without what does not apply any more", () => {
    const before = statusOf(deployed({ phase: "failed", ready: false, conditions: [stalled] }));
    assert.equal(findCondition(before.conditions, "Stalled")?.reason, "RetriesExceeded");

    const after = statusOf(deployed({ conditions: [released] }), before);

    assert.equal(findCondition(after.conditions, "Stalled"), undefined);
    assert.equal(findCondition(after.conditions, "Released")?.reason, "UpgradeSucceeded");
  });

  test("stay as they were when a report has none, as from an older agent", () => {
    const before = statusOf(deployed({ conditions: [released] }));

    const after = statusOf(deployed(), before);

    assert.equal(findCondition(after.conditions, "Released")?.reason, "UpgradeSucceeded");
  });

  test("have the failed attempts of the last report only", () => {
    const before = statusOf(deployed({ phase: "failed", ready: false, failures: 3 }));
    assert.equal(before.failures, 3);

    assert.equal(statusOf(deployed(), before).failures, undefined);
  });

  test("have the failed attempts of each action", () => {
    const failuresBy = { install: 0, upgrade: 1 };
    const { installFailures, upgradeFailures } = statusOf(
      deployed({ phase: "failed", ready: false, failures: 1, failuresBy }),
    );
    assert.deepEqual([installFailures, upgradeFailures], [0, 1]);
  });

  test("say nothing of a release that is not there any more", () => {
    const release = { namespace: "apps", name: "web", revision: 2 };
    const history = [
      {
        ...{ revision: 2, status: "deployed", action: "upgrade" as const, tests: [] },
        ...{ chartName: "app", chartVersion: "1.0.0", appVersion: "" },
      },
    ];
    const before = statusOf(
      deployed({
        ...{ history, release: { ...release, chartVersion: "1.0.0", appVersion: "" } },
        resources: [{ apiVersion: "v1", kind: "ConfigMap", name: "web", state: "ready" }],
      }),
    );
    const report = deployed({ phase: "failed", ready: false, conditions: [stalled] });
    const { release: _, ...failed } = report;
    assert.equal(statusOf(failed, before).release, "apps/web:2", "an older agent does not say it");

    const after = statusOf({ ...failed, notInstalled: true }, before);

    assert.deepEqual(
      [after.history, after.release, after.version, after.resources, after.appliedDeploymentID],
      [undefined, undefined, undefined, undefined, ""],
    );
    assert.equal(findCondition(after.conditions, "Installed"), undefined);
    assert.equal(findCondition(after.conditions, "Stalled")?.status, "True");
  });

  test("have as many revisions as fit, the newest in any case, and more while something is wrong", () => {
    const history = [5, 4, 3, 2, 1].map((revision) => ({
      ...{
        revision,
        status: "superseded",
        action: "upgrade",
        chartName: "app",
        digest: "d".repeat(56),
      },
      ...{ chartVersion: "1.0.0", appVersion: "9", deployedAt: "2026-01-01T00:00:00Z", tests: [] },
    }));
    const versionsOf = (report: Partial<DeploymentState>) =>
      statusOf(deployed({ history, ...report })).history?.map(({ version }) => version);

    assert.deepEqual(versionsOf({}), [5, 4]);
    assert.deepEqual(versionsOf({ phase: "failed", ready: false }), [5, 4, 3, 2, 1]);
    const [long] = history.map((each) => ({ ...each, chartName: "a".repeat(400) }));
    assert.ok(long !== undefined);
    assert.deepEqual(versionsOf({ history: [long, ...history.slice(1)] }), [5]);
  });

  test("have Flux's names, without what says nothing", () => {
    const { history } = statusOf(
      deployed({
        history: [
          {
            ...{ revision: 2, status: "deployed", action: "upgrade", chartName: "app" },
            ...{ chartVersion: "1.1.0", appVersion: "1.1.0", deployedAt: "2026-01-01T00:00:00Z" },
            tests: [{ name: "smoke", phase: "Succeeded" }],
            digest: "d",
            remarks: ["deleted and created again: Job shop/once"],
          },
          {
            ...{ revision: 1, status: "superseded", chartName: "app" },
            ...{ chartVersion: "1.0.0", appVersion: "9", tests: [] },
          },
        ],
      }),
    );

    assert.deepEqual(history, [
      {
        ...{ version: 2, status: "deployed", action: "upgrade", chartName: "app" },
        ...{ chartVersion: "1.1.0", lastDeployed: "2026-01-01T00:00:00Z" },
        testHooks: { smoke: { phase: "Succeeded" } },
        digest: "d",
        remarks: ["deleted and created again: Job shop/once"],
      },
      {
        ...{ version: 1, status: "superseded", chartName: "app" },
        ...{ chartVersion: "1.0.0", appVersion: "9" },
      },
    ]);
  });
});
