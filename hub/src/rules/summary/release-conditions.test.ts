import assert from "node:assert/strict";
import type { BundleDeployment, Condition } from "@flotilla/shared/api";
import { describe, test } from "vitest";
import { createDeploymentAggregates, toCounted } from "./bundle-aggregate.ts";
import { releaseConditions } from "./release-conditions.ts";

type Brief = readonly [Condition["type"], Condition["status"], reason: string, message?: string];

function deployment(cluster: string, conditions: readonly Brief[]): BundleDeployment {
  return {
    metadata: {
      ...{ name: "web", namespace: `cluster-${cluster}` },
      labels: {
        "fleet.cattle.io/bundle-name": "web",
        "fleet.cattle.io/bundle-namespace": "fleet-default",
      },
    },
    spec: { deploymentID: "d", stagedDeploymentID: "d" },
    status: {
      conditions: conditions.map(([type, status, reason, message = ""]) => ({
        ...{ type, status, reason, message },
      })),
    },
  };
}

function sumOf(deployments: readonly BundleDeployment[]): readonly string[] {
  const aggregates = createDeploymentAggregates();
  for (const each of deployments) {
    // Each was in sync before.
    const before = toCounted({
      ...each,
      status: { conditions: released.status?.conditions ?? [] },
    });
    aggregates.change(undefined, before);
    aggregates.change(before, toCounted(each));
  }
  const bundle = toCounted(released).bundle;
  return releaseConditions({
    aggregate: aggregates.ofBundle(bundle),
    lookUp: (key) =>
      deployments.find(({ metadata }) => key === `${metadata.namespace}/${metadata.name}`),
    nameOf: ({ metadata }) => metadata.namespace?.replace("cluster-", "") ?? "",
  }).map(({ type, status, reason, message }) => `${type} ${status} ${reason}: ${message}`);
}

const released = deployment("a", [["Released", "True", "InstallSucceeded", "installed"]]);

describe("the conditions of the releases of a HelmOp", () => {
  test("are absent without releases", () => assert.deepEqual(sumOf([]), []));

  test("are true if they are true everywhere", () => {
    const all = [released, deployment("b", [["Released", "True", "UpgradeSucceeded", "upgraded"]])];

    assert.deepEqual(sumOf(all), ["Released True InstallSucceeded: 2 of 2 clusters; a: installed"]);
  });

  test("are false if they are false in one cluster, which is named", () => {
    const failed = deployment("b", [
      ["Released", "False", "UpgradeFailed", "no such field"],
      ["Remediated", "True", "RollbackSucceeded", "rolled back"],
    ]);

    assert.deepEqual(sumOf([released, failed]), [
      "Released False UpgradeFailed: 1 of 2 clusters; b: no such field",
      "Remediated True RollbackSucceeded: 1 of 2 clusters; b: rolled back",
    ]);
  });

  test("are unknown while one is", () => {
    const progressing = deployment("b", [["Released", "Unknown", "Progressing", "waiting"]]);

    assert.deepEqual(sumOf([released, progressing]), [
      "Released Unknown Progressing: 1 of 2 clusters; b: waiting",
    ]);
  });
});
