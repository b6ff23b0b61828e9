/** Messages about offline clusters, the same on Bundles and HelmOps. */
import assert from "node:assert/strict";
import type { BundleDeployment, Cluster, HelmOpStatus } from "@flotilla/shared/api";
import { findCondition } from "@flotilla/shared/conditions";
import { describe, test } from "vitest";
import { bundleStatus } from "../../rollout/bundle/status.ts";
import {
  aBundle,
  aCluster,
  accepted,
  aDeployment,
  aggregated,
  aHelmOp,
  decidedBundle,
  decidedHelmOp,
  digestA,
  digestB,
  now,
  workspace,
} from "../../testing/index.ts";
import { helmOpStatus } from "./status.ts";

const since = "2025-12-24T18:00:00Z";

/** Its agent was connected until `since`. */
function offlineCluster(name: string): Cluster {
  return aCluster(name, { status: { agent: { connected: false, epoch: 7, lastSeen: since } } });
}

function ready(cluster: string): BundleDeployment {
  return aDeployment(cluster, { status: { appliedDeploymentID: digestA, ready: true } });
}

/** It runs an earlier content. */
function waiting(cluster: string): BundleDeployment {
  const status = { appliedDeploymentID: digestB, ready: true, version: "1.2.8" };
  return aDeployment(cluster, { status });
}

function failing(cluster: string): BundleDeployment {
  const conditions = [{ type: "Deployed", status: "False", message: "no chart" }] as const;
  return aDeployment(cluster, { status: { conditions: [...conditions] } });
}

function statusOf(
  deployments: readonly BundleDeployment[],
  offline: readonly Cluster[],
  before?: HelmOpStatus,
): HelmOpStatus {
  const status = helmOpStatus({
    helmOp: decidedHelmOp(aHelmOp({}, {}, before), accepted),
    bundle: decidedBundle(aBundle(), { targets: deployments.length }),
    ...aggregated(deployments, 0, offline),
    now,
  });
  assert.ok(status !== undefined);
  return status;
}

describe("a HelmOp that targets offline clusters", () => {
  const cases: readonly (readonly [
    what: string,
    deployments: readonly BundleDeployment[],
    offline: readonly string[],
    counts: string,
    ready: readonly [status: string, reason: string, message: RegExp],
    reconciling: string,
  ])[] = [
    [
      "is Ready when they were ready, and reports since when they are offline",
      [ready("oslo"), ready("paris")],
      ["paris"],
      "2 ready",
      [
        "True",
        "Ready",
        /^1 cluster is offline, as last reported: fleet-default\/paris \(since 2025-12-24T18:00:00Z\)$/,
      ],
      "False",
    ],
    [
      "is not Ready for a change that they have not confirmed, and does not fail",
      [ready("oslo"), waiting("paris")],
      ["paris"],
      "1 ready, 1 offline",
      [
        "Unknown",
        "Offline",
        /^Offline\(1\) \[Cluster fleet-default\/paris: no agent connected since 2025-12-24T18:00:00Z; last known state: 1\.2\.8 WaitApplied\]$/,
      ],
      "False",
    ],
    [
      "counts them apart from failing clusters",
      [ready("a"), ready("b"), ready("c"), failing("d"), waiting("e"), failing("f")],
      ["e", "f"],
      "3 ready, 1 failing, 2 offline",
      [
        "False",
        "ErrApplied",
        /^ErrApplied\(1\) \[Cluster fleet-default\/d: no chart\]; Offline\(2\) \[Cluster fleet-default\/e: no agent/,
      ],
      "True",
    ],
    [
      "continues its rollout in the other clusters",
      [waiting("oslo"), waiting("paris")],
      ["paris"],
      "1 waiting, 1 offline",
      ["False", "WaitApplied", /^WaitApplied\(1\) .*; Offline\(1\) /],
      "True",
    ],
  ];
  for (const [what, deployments, offline, counts, [holds, reason, message], reconciling] of cases) {
    test(what, () => {
      const status = statusOf(deployments, offline.map(offlineCluster));

      const condition = findCondition(status.conditions, "Ready");
      assert.deepEqual([condition?.status, condition?.reason], [holds, reason]);
      assert.match(condition?.message ?? "", message);
      assert.equal(findCondition(status.conditions, "Reconciling")?.status, reconciling);
      assert.equal(status.display?.counts, counts);
      assert.equal(status.offlineClusterCount, offline.length);
      assert.deepEqual(
        status.offlineClusters,
        offline.map((name) => ({ name: `${workspace}/${name}`, since })),
      );
    });
  }

  test("reports clusters that never connected", () => {
    const status = statusOf([aDeployment("paris")], [aCluster("paris")]);

    assert.deepEqual(status.offlineClusters, [{ name: `${workspace}/paris` }]);
    assert.match(
      findCondition(status.conditions, "Ready")?.message ?? "",
      /^Offline\(1\) \[Cluster fleet-default\/paris: no agent has connected yet\]$/,
    );
  });

  test("names ten of them in a stable order, and stays small among thousands", () => {
    const names = Array.from({ length: 2_000 }, (_, index) => `c${index + 1_000}`);
    const status = statusOf(names.toReversed().map(waiting), names.map(offlineCluster));

    assert.equal(status.offlineClusterCount, 2_000);
    assert.deepEqual(
      status.offlineClusters?.map(({ name }) => name),
      names.slice(0, 10).map((name) => `${workspace}/${name}`),
    );
    assert.equal(status.summary?.nonReadyResources?.length, 10);
    assert.ok(JSON.stringify(status).length < 6_000, `${JSON.stringify(status).length}`);
  });

  test("no longer reports them once they are connected", () => {
    const before = statusOf([ready("paris")], [offlineCluster("paris")]);

    const status = statusOf([ready("paris")], [], before);

    assert.equal("offlineClusters" in status, false);
    assert.equal("offlineClusterCount" in status, false);
    assert.equal(findCondition(status.conditions, "Ready")?.message, "");
  });

  test("has the same message as its Bundle", () => {
    const deployments = [ready("oslo"), waiting("paris")];
    const status = statusOf(deployments, [offlineCluster("paris")]);
    const ofBundle = bundleStatus({
      bundle: decidedBundle(aBundle(), { targets: 2 }),
      ...aggregated(deployments, 0, [offlineCluster("paris")]),
      now,
    });
    assert.ok(ofBundle !== undefined);

    assert.deepEqual(ofBundle.offlineClusters, status.offlineClusters);
    assert.equal(ofBundle.offlineClusterCount, 1);
    assert.equal(ofBundle.display?.counts, "1 ready, 1 offline");
    assert.equal(
      findCondition(ofBundle.conditions, "Ready")?.message,
      findCondition(status.conditions, "Ready")?.message,
    );
  });
});
