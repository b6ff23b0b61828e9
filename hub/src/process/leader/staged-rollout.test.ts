/** Staged rollouts by the controllers of leaders, on an API server in memory: canary, soak, rest; halt; rollback; gates. */
import assert from "node:assert/strict";
import type { RolloutStrategy } from "@flotilla/shared/api";
import { bundleDeployments, bundles, helmOps } from "@flotilla/shared/api";
import { bundleRollouts, gates } from "@flotilla/shared/api/rollout";
import { findCondition } from "@flotilla/shared/conditions";
import { describe, onTestFinished, test } from "vitest";
import {
  bundleStatusOf,
  createStagedFleet,
  decideGate,
  type StagedClusters,
  type StagedFleet,
} from "./testing/index.ts";

const canary = { clusterSelector: { matchLabels: { canary: "true" } } };

const fleetOfFour: StagedClusters = { ams: { canary: "true" }, ber: {}, cgn: {}, dus: {} };

const canarySoakRest: RolloutStrategy = {
  stages: [
    { name: "canary", ...canary, after: [{ name: "soak", soak: { for: "1m" } }] },
    { name: "rest", maxUnavailable: 2 },
  ],
};

/** A fleet on which 1.2.3 is rolled out. */
async function started(
  strategy: RolloutStrategy,
  labels: StagedClusters = fleetOfFour,
): Promise<StagedFleet> {
  const fleet = await createStagedFleet(strategy, labels);
  onTestFinished(() => fleet.stop());
  for (let round = 0; round < 12 && fleet.status().phase !== "Completed"; round += 1) {
    fleet.ready();
    for (const gate of fleet.gates()) pass(fleet, gate.spec.gate);
    await fleet.pass(62_000);
  }
  assert.equal(fleet.status().phase, "Completed");
  return fleet;
}

function pass(
  { leader, gates: all }: StagedFleet,
  name: string,
  result: "Passed" | "Failed" = "Passed",
): void {
  const gate = all().findLast(
    ({ spec, status }) =>
      spec.gate === name &&
      ["Approval", "External"].includes(spec.type) &&
      status?.decision === undefined,
  );
  if (gate === undefined) return;
  decideGate(leader.rest, gate, result);
}

describe("a staged rollout", () => {
  test("reaches the canary, soaks, and goes on two at a time", async () => {
    const fleet = await started(canarySoakRest);

    await fleet.publish("1.2.4");
    assert.deepEqual(fleet.having("1.2.4"), ["ams"]);
    fleet.ready();
    await fleet.pass();
    assert.equal(fleet.status().reason, "Soaking");
    assert.deepEqual(fleet.having("1.2.4"), ["ams"]);
    const [waiting] = fleet.leader.rest.all(helmOps);
    const ready = findCondition(waiting?.status?.conditions, "Ready");
    assert.deepEqual(
      [ready?.status, ready?.message],
      ["True", `rollout Waiting: ${fleet.status().message}`],
    );
    await fleet.pass(62_000);
    assert.deepEqual(fleet.having("1.2.4"), ["ams", "ber", "cgn"]);
    fleet.ready();
    await fleet.pass();
    fleet.ready();
    await fleet.pass();

    assert.equal(fleet.status().phase, "Completed");
    assert.deepEqual(fleet.having("1.2.4"), ["ams", "ber", "cgn", "dus"]);
    const status = bundleStatusOf(fleet);
    assert.deepEqual(
      [status?.rollout?.phase, status?.rollout?.done, status?.rollout?.total],
      ["Completed", 4, 4],
    );
    assert.equal(findCondition(status?.conditions, "RolledOut")?.status, "True");
    const [helmOp] = fleet.leader.rest.all(helmOps);
    assert.deepEqual(helmOp?.status?.rollout, status?.rollout);
    assert.equal(findCondition(helmOp?.status?.conditions, "RolledOut")?.status, "True");
  });

  test("writes each cluster once, says by which rollout, and from what", async () => {
    const fleet = await started(canarySoakRest);
    const before = fleet.deployment("ams")?.spec.deploymentID;
    const { writes } = fleet.leader.rest;
    const count = writes.length;

    await fleet.publish("1.2.4");

    const written = writes
      .slice(count)
      .filter((each) => each.startsWith("replace bundledeployments"));
    assert.equal(written.length, 1);
    const { promotion } = fleet.deployment("ams")?.spec ?? {};
    assert.deepEqual(
      [promotion?.rollout, promotion?.from, promotion?.wasReady],
      ["web-2", before, undefined],
    );
  });

  test("halts at a failure, and promotes nothing more", async () => {
    const fleet = await started(canarySoakRest);
    await fleet.publish("1.2.4");

    fleet.fails("ams");
    await fleet.pass(120_000);

    const { phase, stages } = fleet.status();
    assert.equal(phase, "Halted");
    assert.deepEqual(
      stages?.[0]?.failing?.map(({ cluster, message }) => [cluster, message]),
      [["fleet-default/ams", "it does not start"]],
    );
    assert.deepEqual(fleet.having("1.2.4"), ["ams"]);
    assert.equal(findCondition(bundleStatusOf(fleet)?.conditions, "RolledOut")?.status, "False");
  });

  test("takes back what it promoted, with onFailure Rollback", async () => {
    const fleet = await started({ ...canarySoakRest, onFailure: "Rollback" });
    const before = fleet.deployment("ams")?.spec.deploymentID;
    await fleet.publish("1.2.4");
    fleet.fails("ams");
    await fleet.pass();
    assert.equal(fleet.deployment("ams")?.spec.deploymentID, before);
    fleet.ready();
    await fleet.pass();

    assert.equal(fleet.status().phase, "RolledBack");
    assert.deepEqual(fleet.having("1.2.4"), []);
  });

  test("waits for an approval in a Gate, and takes nobody else's word for it", async () => {
    const strategy: RolloutStrategy = {
      stages: [
        { name: "canary", ...canary },
        { name: "prod", before: [{ name: "board", approval: {} }] },
      ],
    };
    const fleet = await started(strategy);
    await fleet.publish("1.2.4");
    fleet.ready();
    await fleet.pass();
    assert.equal(fleet.status().reason, "GateWaiting");
    const { rest } = fleet.leader;
    const gate = fleet.gates().findLast(({ spec }) => spec.rollout.name === "web-2");
    assert.ok(gate);
    assert.equal(gate.metadata.name, "web-2-prod-board");
    assert.deepEqual(gate.spec.clusters, {
      count: 3,
      first: ["fleet-default/ber", "fleet-default/cgn", "fleet-default/dus"],
    });

    // Deleted, and created by somebody else under its name, with a decision.
    rest.remove(gates, gate.metadata);
    const decision = { result: "Passed", by: "mallory", digest: gate.spec.digest } as const;
    rest.put(gates, {
      ...gate,
      metadata: { ...gate.metadata, uid: "uid-forged" },
      status: { decision },
    });
    await fleet.pass();
    assert.deepEqual(fleet.having("1.2.4"), ["ams"]);
    const again = fleet.gates().findLast(({ spec }) => spec.rollout.name === "web-2");
    assert.notEqual(again?.metadata.uid, "uid-forged");

    pass(fleet, "board");
    await fleet.pass();
    assert.deepEqual(fleet.having("1.2.4"), ["ams", "ber", "cgn", "dus"]);
    const passed = fleet.gates().findLast(({ spec }) => spec.rollout.name === "web-2");
    assert.equal(findCondition(passed?.status?.conditions, "Passed")?.reason, "Approved");
    assert.equal(fleet.status().stages?.[1]?.gates?.[0]?.decision?.by, "alice");
  });

  test("ignores a BundleRollout that the hub did not make", async () => {
    const fleet = await started(canarySoakRest);
    const { rest } = fleet.leader;
    const mine = fleet.current();

    rest.put(bundleRollouts, {
      ...mine,
      metadata: { ...mine.metadata, name: "web-9", uid: "uid-forged" },
      spec: { ...mine.spec, number: 9, revision: "sha256:other" },
    });
    await fleet.publish("1.2.4");

    assert.equal(
      rest.peek(bundleRollouts, { namespace: "fleet-default", name: "web-10" })?.spec.version,
      "1.2.4",
    );
    assert.deepEqual(fleet.having("1.2.4"), ["ams"]);
  });

  test("does not give back what somebody else wrote into a promotion", async () => {
    const fleet = await started(canarySoakRest);
    await fleet.publish("1.2.4");
    const deployment = fleet.deployment("ams");
    assert.ok(deployment?.spec.promotion);
    const from = `sha256:${"e".repeat(64)}`;
    fleet.leader.rest.put(bundleDeployments, {
      ...deployment,
      spec: { ...deployment.spec, promotion: { ...deployment.spec.promotion, from } },
    });
    fleet.command({ state: "RolledBack" });
    await fleet.pass();

    assert.notEqual(fleet.deployment("ams")?.spec.deploymentID, from);
  });

  test("gives a cluster that joins the revision before, until its turn", async () => {
    const fleet = await started(canarySoakRest);
    await fleet.publish("1.2.4");

    fleet.add("new", {});
    await fleet.pass();

    assert.deepEqual(fleet.having("1.2.3"), ["ber", "cgn", "dus", "new"]);
  });

  test("does what a user asks for: halt, go on, take back", async () => {
    const fleet = await started({ stages: [{ name: "all", maxUnavailable: 1 }] });
    await fleet.publish("1.2.4");
    fleet.command({ state: "Halted" });
    fleet.ready();
    await fleet.pass();
    assert.equal(fleet.status().phase, "Halted");
    assert.deepEqual(fleet.having("1.2.4"), ["ams"]);

    fleet.command({ state: "Running" });
    await fleet.pass();
    assert.deepEqual(fleet.having("1.2.4"), ["ams", "ber"]);

    fleet.command({ state: "RolledBack" });
    for (let round = 0; round < 3; round += 1) {
      await fleet.pass();
      fleet.ready();
    }
    await fleet.pass();
    assert.equal(fleet.status().phase, "RolledBack");
    assert.deepEqual(fleet.having("1.2.4"), []);
  });

  test("pins its revision: what is published meanwhile waits, and is named", async () => {
    const fleet = await started(canarySoakRest);
    await fleet.publish("1.2.4");
    await fleet.publish("1.2.5");
    fleet.ready();
    await fleet.pass();

    assert.equal(fleet.status().next?.version, "1.2.5");
    await fleet.pass(62_000);
    assert.deepEqual(fleet.having("1.2.4"), ["ams", "ber", "cgn"]);
    assert.deepEqual(fleet.having("1.2.5"), []);
    for (let round = 0; round < 4; round += 1) {
      fleet.ready();
      await fleet.pass();
    }
    assert.equal(fleet.current().spec.version, "1.2.5");
    assert.deepEqual(fleet.having("1.2.5"), ["ams"]);
  });

  test("goes on where it is under leaders that change between any two steps", async () => {
    const fleet = await started(canarySoakRest);
    await fleet.publish("1.2.4");
    const promotedAt = fleet.deployment("ams")?.spec.promotion?.at;
    for (let round = 0; round < 8; round += 1) {
      await fleet.leader.drop();
      fleet.ready();
      await fleet.pass(round === 2 ? 62_000 : 2_000);
      const inFlight = ["ams", "ber", "cgn", "dus"].filter((name) => {
        const { spec, status } = fleet.deployment(name) ?? {};
        return status?.appliedDeploymentID !== spec?.deploymentID;
      });
      assert.ok(inFlight.length <= 2, inFlight.join());
    }

    assert.equal(fleet.status().phase, "Completed");
    assert.equal(fleet.deployment("ams")?.spec.promotion?.at, promotedAt);
  });

  test("stores a breach before anything else, and nothing is promoted after it", async () => {
    const fleet = await started({ stages: [{ name: "all", maxUnavailable: 2 }] });
    await fleet.publish("1.2.4");
    fleet.fails("ams");
    fleet.ready("ber");
    await fleet.pass();

    assert.equal(fleet.status().breach?.failed, 1);
    assert.deepEqual(fleet.having("1.2.4"), ["ams", "ber"]);
  });

  test("promotes nothing while its decision cannot be stored", async () => {
    const fleet = await started({ stages: [{ name: "all", maxUnavailable: 1 }] });
    const { rest } = fleet.leader;
    rest.beforeWrite = (write) => {
      if (write.startsWith("replace bundlerollouts")) throw new Error("etcd is full");
    };

    await fleet.publish("1.2.4");
    assert.deepEqual(fleet.having("1.2.4"), []);
    rest.beforeWrite = () => undefined;
    await fleet.pass(60_000);

    assert.deepEqual(fleet.having("1.2.4"), ["ams"]);
  });
});

describe("a strategy that changes", () => {
  test("ends the rollout when it has no stages any more, and everything goes at once", async () => {
    const fleet = await started(canarySoakRest);
    await fleet.publish("1.2.4");
    fleet.setStrategy({});
    await fleet.pass();

    const contents = ["ams", "ber", "cgn", "dus"].map((name) => fleet.deployment(name)?.spec);
    assert.equal(new Set(contents.map((spec) => spec?.deploymentID)).size, 1);
    assert.ok(contents.every((spec) => spec?.promotion === undefined));
    assert.deepEqual(
      fleet.rollouts().map(({ status }) => status?.phase),
      ["Superseded", "Superseded"],
    );
    assert.equal(bundleStatusOf(fleet)?.rollout, undefined);
  });

  test("moves nothing when stages are added to an app that is deployed", async () => {
    const fleet = await createStagedFleet({}, fleetOfFour);
    onTestFinished(() => fleet.stop());
    fleet.ready();
    await fleet.pass();
    const { writes } = fleet.leader.rest;
    const count = writes.length;

    fleet.setStrategy(canarySoakRest);
    await fleet.pass();

    assert.equal(fleet.status().phase, "Completed");
    const written = writes.slice(count).filter((each) => each.includes("bundledeployments"));
    assert.deepEqual(written, []);
  });
});

describe("an app without stages", () => {
  test("gets no BundleRollout, and everything at once", async () => {
    const fleet = await createStagedFleet({}, fleetOfFour);
    onTestFinished(() => fleet.stop());
    await fleet.publish("1.2.4");

    assert.deepEqual(fleet.rollouts(), []);
    const ids = ["ams", "ber", "cgn", "dus"].map((name) => fleet.deployment(name)?.spec);
    assert.equal(new Set(ids.map((spec) => spec?.deploymentID)).size, 1);
    assert.ok(ids.every((spec) => spec?.promotion === undefined));
    const bundle = fleet.leader.rest.all(bundles)[0];
    assert.equal(bundle?.status?.rollout, undefined);
    assert.equal(
      fleet.leader.rest.reads.some((read) => read.includes("bundledeployments")),
      false,
    );
  });
});
