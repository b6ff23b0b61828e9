import assert from "node:assert/strict";
import type { BundleDeployment } from "@flotilla/shared/api";
import { describe, test } from "vitest";
import { createDeploymentAggregates, toCounted } from "./bundle-aggregate.ts";
import { stalledReleases } from "./stalled.ts";

type Kind = keyof typeof kinds;

const failed = { type: "Deployed", status: "False" } as const;
const stalled = (reason: string) =>
  ({ type: "Stalled", status: "True", reason, message: "timed out" }) as const;
const working = { type: "Reconciling", status: "True" } as const;
const applied = { appliedDeploymentID: "d" };

/** What an agent reports. */
const kinds = {
  ready: { ...applied, ready: true },
  notReady: applied,
  rollingOut: { ...applied, conditions: [working] },
  /** Its tests failed. */
  exceededAfterwards: { ...applied, conditions: [stalled("RetriesExceeded")] },
  waiting: {},
  retried: { conditions: [failed, working] },
  exceeded: { conditions: [failed, stalled("RetriesExceeded")] },
  withoutTarget: { conditions: [failed, stalled("MissingRollbackTarget")] },
  withoutValues: { conditions: [failed, stalled("ValuesError")] },
  exceededBefore: {
    attemptedDeploymentID: "c",
    conditions: [failed, stalled("RetriesExceeded")],
  },
} satisfies Record<string, NonNullable<BundleDeployment["status"]>>;

function deployment(cluster: string, kind: Kind): BundleDeployment {
  return {
    metadata: {
      ...{ name: "web", namespace: cluster },
      labels: {
        "fleet.cattle.io/bundle-name": "web",
        "fleet.cattle.io/bundle-namespace": "fleet-default",
      },
    },
    spec: { deploymentID: "d", stagedDeploymentID: "d" },
    status: kinds[kind],
  };
}

/** By cluster; those in `offline` have no connection. */
function rolledUp(states: Readonly<Record<string, Kind>>, offline: readonly string[] = []) {
  const aggregates = createDeploymentAggregates();
  const deployments = Object.entries(states).map(([name, kind]) => deployment(name, kind));
  for (const each of deployments) {
    const name = each.metadata.namespace ?? "";
    // Each was in progress before.
    const before = toCounted(deployment(name, "waiting"));
    aggregates.change(undefined, before);
    aggregates.change(before, toCounted(each, offline.includes(name)));
  }
  const condition = stalledReleases({
    aggregate: aggregates.ofBundle("fleet-default/web"),
    lookUp: (key) => deployments.find(({ metadata }) => key === `${metadata.namespace}/web`),
    nameOf: ({ metadata }) => metadata.namespace ?? "",
  });
  return condition && `${condition.status} ${condition.reason}: ${condition.message}`;
}

describe("the releases of a Bundle are stalled", () => {
  test.each<readonly [what: string, Record<string, Kind>, offline: readonly string[], string]>([
    [
      "when the only one has no retries left",
      { a: "exceeded" },
      [],
      "True RetriesExceeded: 1 of 1 clusters; a: timed out",
    ],
    [
      "when what is applied has no retries left",
      { a: "exceededAfterwards" },
      [],
      "True RetriesExceeded: 1 of 1 clusters; a: timed out",
    ],
    [
      "when one of them has nothing to roll back to",
      { a: "ready", b: "withoutTarget" },
      [],
      "True MissingRollbackTarget: 1 of 2 clusters; b: timed out",
    ],
    [
      "beside a workload that became unready after its rollout",
      { a: "exceeded", b: "notReady" },
      [],
      "True RetriesExceeded: 1 of 2 clusters; a: timed out",
    ],
    [
      "beside what only a change in its cluster corrects",
      { a: "exceeded", b: "withoutValues" },
      [],
      "True RetriesExceeded: 1 of 2 clusters; a: timed out",
    ],
    [
      "beside a retry in an offline cluster",
      { a: "exceeded", b: "retried" },
      ["b"],
      "True RetriesExceeded: 1 of 2 clusters; a: timed out",
    ],
  ])("%s", (_, states, offline, expected) => {
    assert.equal(rolledUp(states, offline), expected);
  });

  test.each<readonly [what: string, Record<string, Kind>, offline: readonly string[]]>([
    ["without any", {}, []],
    ["when all are ready", { a: "ready" }, []],
    ["while one is retried", { a: "exceeded", b: "retried" }, []],
    ["while one is installed", { a: "exceeded", b: "waiting" }, []],
    ["during a rollout of another one", { a: "exceeded", b: "rollingOut" }, []],
    ["when only an offline one is", { a: "ready", b: "exceeded" }, ["b"]],
    ["by an earlier content", { a: "exceededBefore" }, []],
    ["by what a change in the cluster corrects", { a: "withoutValues" }, []],
  ])("but not %s", (_, states, offline) => {
    assert.equal(rolledUp(states, offline), undefined);
  });
});
