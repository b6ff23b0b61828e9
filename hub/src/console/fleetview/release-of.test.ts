import assert from "node:assert/strict";
import type { BundleDeployment, Condition } from "@flotilla/shared/api";
import { describe, test } from "vitest";
import { aBundle, aCluster, aDeployment, now, workspace } from "../../testing/index.ts";
import { releaseOf } from "./release-of.ts";

const app = { kind: "HelmOp", namespace: workspace, name: "web" } as const;
const connected = aCluster("paris", { status: { agent: { epoch: 1, connected: true } } });
const offline = aCluster("paris", { status: { agent: { epoch: 1 } } });
const uninstallFailed: Condition = {
  ...{ type: "Ready", reason: "ErrUninstall", message: "hook failed" },
  status: "False",
};

function aTombstone(fields: Parameters<typeof aDeployment>[1] = {}): BundleDeployment {
  return aDeployment("paris", { metadata: { deletionTimestamp: now }, ...fields });
}

describe("a release that is being deleted", () => {
  const rows: readonly (readonly [
    what: string,
    deployment: BundleDeployment,
    cluster: typeof connected,
    sync: string,
    message: RegExp,
  ])[] = [
    ["waits for its agent", aTombstone(), connected, "Waiting", /^waiting for the agent to unin/],
    ["waits for an offline cluster", aTombstone(), offline, "Waiting", /agent to connect$/],
    [
      "has the error of its uninstall",
      aTombstone({ status: { conditions: [uninstallFailed] } }),
      connected,
      "Failed",
      /^hook failed$/,
    ],
    [
      "waits for an offline cluster after its uninstall has failed",
      aTombstone({ status: { conditions: [uninstallFailed] } }),
      offline,
      "Failed",
      /agent to connect$/,
    ],
    [
      "stays installed when it is suspended",
      aTombstone({ spec: { suspend: true } }),
      connected,
      "Waiting",
      /stays installed$/,
    ],
  ];
  for (const bundle of [undefined, aBundle({}, {}, { version: "2.0.0" })])
    test.each(rows)(`${bundle ? "with" : "without"} its Bundle %s`, (_, deployment, ...row) => {
      const [cluster, sync, message] = row;

      const release = releaseOf({ app, bundle, deployment, cluster });

      assert.equal(release.uninstalling, true);
      assert.deepEqual(release.bundle, { namespace: workspace, name: "web" });
      assert.equal(release.sync, sync);
      assert.match(release.message ?? "", message);
      assert.equal(release.since, now);
      assert.equal(release.desiredVersion, undefined);
    });
});

describe("whether what is installed is what is desired", () => {
  const upgradeFailed: Condition = {
    ...{ type: "Released", status: "False", reason: "UpgradeFailed", message: "conflict" },
  };
  const applied = {
    ...{ appliedDeploymentID: "d", attemptedDeploymentID: "d", release: "web/web" },
    ready: true,
  };
  test.each([
    ["in sync", { ...applied }, "InSync"],
    [
      "failed when a forced upgrade of it failed",
      { ...applied, conditions: [upgradeFailed] },
      "Failed",
    ],
    [
      "failed while its workloads become ready",
      { ...applied, ready: false, conditions: [upgradeFailed] },
      "Failed",
    ],
    [
      "waiting while the failure is that of an earlier content",
      {
        ...applied,
        ...{ appliedDeploymentID: "c", attemptedDeploymentID: "c", conditions: [upgradeFailed] },
      },
      "Waiting",
    ],
  ] as const)("%s", (_, status, expected) => {
    const spec = { deploymentID: "d", stagedDeploymentID: "d" };
    const deployment = aDeployment("paris", { spec, status });

    const release = releaseOf({ app, bundle: undefined, deployment, cluster: connected });

    assert.equal(release.sync, expected);
  });
});

test("a release that is not being deleted has no pending uninstall", () => {
  const bundle = aBundle({}, {}, { version: "2.0.0" });
  const deployment = aDeployment("paris");

  const release = releaseOf({ app, bundle, deployment, cluster: connected });

  assert.deepEqual([release.uninstalling, release.desiredVersion], [false, "2.0.0"]);
});

describe("the health of what is installed", () => {
  const installed = { release: "web/web:1" };
  const waiting = { kind: "Deployment", name: "web", summary: { state: "in-progress" } };
  const crashing = { kind: "Pod", name: "web-1", summary: { state: "failed", error: true } };
  const rows: readonly (readonly [
    what: string,
    status: NonNullable<BundleDeployment["status"]>,
    health: string,
  ])[] = [
    ["is unknown while nothing is", {}, "Unknown"],
    ["is healthy when all objects are ready", { ...installed, ready: true }, "Healthy"],
    [
      "is progressing while objects are not ready",
      { ...installed, nonReadyStatus: [waiting] },
      "Progressing",
    ],
    [
      "is degraded by an object that has failed, such as a pod in CrashLoopBackOff, beside others",
      { ...installed, nonReadyStatus: [waiting, crashing] },
      "Degraded",
    ],
  ];
  test.each(rows)("%s", (_, status, health) => {
    const deployment = aDeployment("paris", { status });

    assert.equal(
      releaseOf({ app, bundle: aBundle(), deployment, cluster: connected }).health,
      health,
    );
  });
});
