/**
 * What goes wrong in mid rollout, a test for each case: the object that it concerns names it, and what else there is goes on. By the
 * controllers of a leader on an API server in memory. What can be wrong with a strategy is in `bad-rollouts.test.ts` beside this.
 */
import assert from "node:assert/strict";
import {
  bundleDeployments,
  bundles,
  clusters,
  helmOps,
  type RolloutStrategy,
} from "@flotilla/shared/api";
import { bundleNameLabel } from "@flotilla/shared/api/names";
import { bundleRolloutSchemas, bundleRollouts, gates } from "@flotilla/shared/api/rollout";
import { findCondition } from "@flotilla/shared/conditions";
import { KubeStatusError } from "@flotilla/shared/kube/client";
import { describe, onTestFinished, test } from "vitest";
import { aResult } from "../../rollout/plan/testing/index.ts";
import { aCluster, aHelmOp, workspace } from "../../testing/index.ts";
import { createStagedFleet, type StagedFleet, type StagedFleetOptions } from "./testing/index.ts";

const strategy: RolloutStrategy = {
  stages: [
    { name: "canary", clusterSelector: { matchLabels: { canary: "true" } } },
    { name: "prod", before: [{ name: "board", approval: {} }] },
  ],
};

/** A neighbour of the same workspace, on the same clusters. */
const other = aHelmOp(
  { pollingInterval: "15s", targets: [{ clusterSelector: {} }] },
  { name: "other", uid: "uid-other" },
);

async function start(
  own: RolloutStrategy = strategy,
  options: StagedFleetOptions = {},
): Promise<StagedFleet> {
  const labels = { ams: { canary: "true" }, ber: {}, cgn: {} };
  const fleet = await createStagedFleet(own, labels, {
    ...options,
    begin({ rest }) {
      rest.put(helmOps, other);
    },
  });
  onTestFinished(() => fleet.stop());
  return fleet;
}

/** 1.2.3 is on the canary, and waits for its approval before prod. */
async function waiting(options: StagedFleetOptions = {}): Promise<StagedFleet> {
  const fleet = await start(strategy, options);
  fleet.ready();
  await fleet.pass();
  assert.equal(fleet.status().reason, "GateWaiting");
  return fleet;
}

/** The neighbour gets another version on all clusters. */
async function assertOthersGoOn(fleet: StagedFleet): Promise<void> {
  const before = othersOf(fleet);
  await fleet.publish("1.2.9");
  const after = othersOf(fleet);
  assert.equal(after.length, 3);
  assert.ok(after.every((id, at) => id !== "" && id !== before[at]));
}

function othersOf({ leader }: StagedFleet): readonly string[] {
  return leader.rest
    .all(bundleDeployments)
    .filter(({ metadata }) => metadata.labels?.[bundleNameLabel] === "other")
    .map(({ spec }) => spec.deploymentID);
}

describe("gates that nobody serves", () => {
  test("halt the rollout when their time is over, and say which and until when", async () => {
    const before = [{ name: "ci", timeout: "1m", external: {} }];
    const fleet = await start({ stages: [{ name: "all", before }] });
    await fleet.pass(61_000);

    const { phase, reason, message = "" } = fleet.status();
    assert.deepEqual([phase, reason], ["Halted", "GateExpired"]);
    assert.match(message, /^nobody decided the gate ci of stage all until \S+Z$/);
    await assertOthersGoOn(fleet);
  });
});

test("templates that fail for some clusters are named with the cluster and the agent's sentence, once their deadline is over", async () => {
  const fleet = await start({ stages: [{ name: "all" }], maxFailures: 1, progressDeadline: "5m" });
  const message = "values: .ClusterLabels.region is not set in cluster ber; label it";
  const deployment = fleet.deployment("ber");
  assert.ok(deployment);
  const failed = { type: "Deployed", status: "False", reason: "ValuesError", message } as const;
  fleet.leader.rest.put(bundleDeployments, {
    ...deployment,
    status: {
      ready: false,
      conditions: [{ ...failed, lastTransitionTime: "2025-12-24T18:00:00Z" }],
    },
  });
  fleet.ready("ams", "cgn");
  await fleet.pass(6 * 60_000);

  assert.equal(fleet.status().phase, "Completed");
  const [stage] = fleet.status().stages ?? [];
  assert.deepEqual(
    stage?.failing?.map(({ cluster, message: why }) => [cluster, why]),
    [["fleet-default/ber", message]],
  );
  await assertOthersGoOn(fleet);
});

test("values of 2 MB are rolled out by digest: the BundleRollout stays small", async () => {
  const values = { blob: "0123456789abcdef".repeat(128 * 1_024) };
  const helm = { repo: "https://charts.example.com", chart: "web", version: "~1.2", values };
  const fleet = await waiting({ spec: { helm } });

  assert.ok(JSON.stringify(fleet.current()).length < 32 * 1_024);
  fleet.decide("board");
  await fleet.pass();

  assert.deepEqual(fleet.having("1.2.3"), ["ams", "ber", "cgn"]);
  await assertOthersGoOn(fleet);
});

describe("what a person writes into a BundleRollout", () => {
  test("is refused by its definition where the state is unknown", async () => {
    const fleet = await start();
    const { spec } = fleet.current();

    assert.equal(bundleRolloutSchemas.spec.safeParse({ ...spec, state: "Halted" }).success, true);
    const refused = bundleRolloutSchemas.spec.safeParse({ ...spec, state: "Paused" });

    assert.deepEqual(
      refused.error?.issues.map(({ path, code }) => [path.join("."), code]),
      [["state", "invalid_value"]],
    );
  });

  test("promotes nothing where an older definition has let an unknown state through", async () => {
    const fleet = await waiting();
    // What the types exclude.
    fleet.command(JSON.parse('{"state": "Paused"}'));
    fleet.decide("board");
    await fleet.pass();

    assert.deepEqual(fleet.having("1.2.3"), ["ams"]);
    await assertOthersGoOn(fleet);
  });

  test("is named where it skips clusters and stages that are not there", async () => {
    const fleet = await waiting();
    fleet.command({ skip: ["fleet-default/gone", "ber"], skipStages: ["prd"] });
    await fleet.pass();

    assert.match(
      fleet.status().message ?? "",
      /of stage prod; spec\.skip has fleet-default\/gone, ber, which are not in this rollout: correct or remove them; spec\.skipStages has prd, which is not in this rollout: correct or remove it$/,
    );
    fleet.decide("board");
    await fleet.pass();
    assert.deepEqual(fleet.having("1.2.3"), ["ams", "ber", "cgn"]);
    await assertOthersGoOn(fleet);
  });
});

test("approval of a stale digest counts for nothing: the rollout goes on waiting, with the same Gate", async () => {
  const fleet = await waiting();
  const gate = fleet.gates().at(-1);
  assert.ok(gate);
  const { message } = fleet.status();
  // The rule of the definition refuses it: `e2e/src/rollout/gate-decisions.test.ts`.
  const decision = { result: "Passed", by: "alice", digest: `sha256:${"0".repeat(64)}` } as const;
  fleet.leader.rest.put(gates, { ...gate, status: { ...gate.status, decision } });
  await fleet.pass();

  assert.deepEqual(fleet.having("1.2.3"), ["ams"]);
  assert.equal(fleet.status().message, message);
  assert.equal(fleet.gates().at(-1)?.metadata.uid, gate.metadata.uid);
  await assertOthersGoOn(fleet);
});

describe("charts whose plan fails", () => {
  const planned: RolloutStrategy = {
    stages: [{ name: "all", before: [{ name: "board", approval: { plan: true } }] }],
  };

  /** All clusters have 1.2.3, and 1.2.4 is planned. */
  async function upgrading(askAgent: StagedFleetOptions["askAgent"]): Promise<StagedFleet> {
    const fleet = await start(planned, { ...(askAgent !== undefined && { askAgent }) });
    fleet.decide("board");
    await fleet.pass();
    fleet.ready();
    await fleet.pass();
    await fleet.publish("1.2.4");
    return fleet;
  }

  test("are counted in the Gate where the upgrade would fail, and wait for a yes to that", async () => {
    const result = aResult("selector", { result: "fails", failures: 1 });
    const fleet = await upgrading(() =>
      Promise.resolve({ kind: "answered", answer: { result, text: "" } }),
    );

    const { plan } = fleet.gates().at(-1)?.spec ?? {};
    assert.deepEqual([plan?.groups, plan?.failing], [1, 3]);
    assert.deepEqual(fleet.having("1.2.4"), []);
    await assertOthersGoOn(fleet);
  });

  test("are named with the cluster and the agent's sentence where nothing can be planned", async () => {
    const message = "helm: values don't meet the specifications of the schema";
    const fleet = await upgrading(() =>
      Promise.resolve({ kind: "unknown", reason: "Failed", message }),
    );

    assert.equal(
      fleet.status().message,
      `stage all does not know what would change in 3 clusters: fleet-default/ams, fleet-default/ber, fleet-default/cgn: ${message}`,
    );
    assert.deepEqual(fleet.having("1.2.4"), []);
    await assertOthersGoOn(fleet);
  });
});

describe("in mid rollout", () => {
  test("an app that is deleted is withdrawn, and nothing more is promoted", async () => {
    const fleet = await waiting();
    const { rest } = fleet.leader;
    await rest.delete(helmOps, { namespace: workspace, name: "web" });
    await fleet.pass();
    const { writes } = rest;
    const count = writes.length;
    fleet.decide("board");
    await fleet.pass();

    assert.ok(fleet.deployment("ams")?.metadata.deletionTimestamp !== undefined);
    assert.equal(fleet.deployment("ber"), undefined);
    assert.deepEqual(
      writes.slice(count).filter((write) => /bundlerollouts|create/.test(write)),
      [],
    );
    await assertOthersGoOn(fleet);
  });

  test("a BundleRollout that is deleted starts again, with its gates", async () => {
    const fleet = await waiting();
    const { rest } = fleet.leader;
    const [gate] = fleet.gates();
    assert.ok(gate);
    rest.remove(bundleRollouts, fleet.current().metadata);
    // As the garbage collector does, because it belonged to the BundleRollout.
    rest.remove(gates, gate.metadata);
    await fleet.pass();

    assert.match(fleet.status().message ?? "", /^waits for the approval board /);
    assert.notEqual(fleet.gates()[0]?.metadata.uid, gate.metadata.uid);
    assert.deepEqual(fleet.having("1.2.3"), ["ams"]);
    await assertOthersGoOn(fleet);
  });

  test("a workspace that is deleted gets nothing more, whatever the API server deletes first, and others go on", async () => {
    const fleet = await waiting();
    const { rest } = fleet.leader;
    const elsewhere = "team-b";
    rest.put(clusters, {
      ...aCluster("dus", { metadata: { uid: "uid-dus", namespace: elsewhere } }),
      status: { agent: { connected: true, epoch: 1, lastSeen: "2025-12-24T18:00:00Z" } },
    });
    rest.beforeWrite = (write) => {
      if (/^create \w+ fleet-default\//.test(write))
        throw new KubeStatusError(`${write}: the namespace is being terminated`, {
          status: 403,
          reason: "Forbidden",
        });
    };
    rest.remove(bundleRollouts, fleet.current().metadata);
    for (const gate of fleet.gates()) rest.remove(gates, gate.metadata);
    await fleet.pass(20_000);
    const bundle = rest.peek(bundles, { namespace: workspace, name: "web" });
    assert.match(
      findCondition(bundle?.status?.conditions, "Accepted")?.message ?? "",
      /namespace is being terminated/,
    );
    for (const name of ["web", "other"]) await rest.delete(helmOps, { namespace: workspace, name });
    rest.put(helmOps, {
      ...other,
      metadata: { ...other.metadata, namespace: elsewhere, uid: "uid-elsewhere" },
    });
    await fleet.pass(60_000);

    assert.deepEqual(fleet.rollouts(), []);
    assert.equal(fleet.deployment("ber"), undefined);
    const placed = rest
      .all(bundleDeployments)
      .filter(({ metadata: { labels } }) => labels?.["fleet.cattle.io/cluster"] === "dus");
    assert.equal(placed.length, 1);
  });
});
