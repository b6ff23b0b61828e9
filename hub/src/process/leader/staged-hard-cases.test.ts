/** [3.9, 1.9] Hard cases of staged rollouts that need leaders and an API server: other targets, other fields, pauses, conflicts. */
import assert from "node:assert/strict";
import {
  bundleDeployments,
  type HelmOp,
  helmOps,
  type RolloutStrategy,
} from "@flotilla/shared/api";
import { bundleRollouts } from "@flotilla/shared/api/rollout";
import { describe, onTestFinished, test } from "vitest";
import { workspace } from "../../testing/index.ts";
import { createStagedFleet, type StagedFleet, type StagedFleetOptions } from "./testing/index.ts";

const canary = { name: "canary", clusterSelector: { matchLabels: { canary: "true" } } };
const gatedRest: RolloutStrategy = {
  stages: [canary, { name: "rest", before: [{ name: "board", approval: {} }] }],
};
const threeClusters = { ams: { canary: "true" }, ber: {}, cgn: {} };
const targetsOf = (...names: readonly string[]) => names.map((clusterName) => ({ clusterName }));

/** A fleet on which 1.2.3 is rolled out. */
async function started(
  strategy: RolloutStrategy = gatedRest,
  options: StagedFleetOptions = {},
): Promise<StagedFleet> {
  const fleet = await createStagedFleet(strategy, threeClusters, options);
  onTestFinished(() => fleet.stop());
  for (let round = 0; round < 4; round += 1) {
    fleet.ready();
    await fleet.pass();
    if (fleet.status().reason === "GateWaiting") fleet.decide("board");
  }
  assert.equal(fleet.status().phase, "Completed");
  return fleet;
}

/** The same, and 1.2.4 waits for its approval; the canary has it. */
async function gated(options?: StagedFleetOptions): Promise<StagedFleet> {
  const fleet = await started(gatedRest, options);
  await fleet.publish("1.2.4");
  fleet.ready();
  await fleet.pass();
  assert.equal(fleet.status().reason, "GateWaiting");
  return fleet;
}

function change({ leader }: StagedFleet, fields: Partial<HelmOp["spec"]>): void {
  const helmOp = leader.rest.peek(helmOps, { namespace: workspace, name: "web" });
  assert.ok(helmOp);
  const generation = (helmOp.metadata.generation ?? 1) + 1;
  leader.rest.put(helmOps, {
    ...helmOp,
    metadata: { ...helmOp.metadata, generation },
    spec: { ...helmOp.spec, ...fields },
  });
}

const isWithdrawn = (fleet: StagedFleet, name: string) => {
  const deployment = fleet.deployment(name);
  return deployment === undefined || deployment.metadata.deletionTimestamp !== undefined;
};

describe("[3.9] targets that change in mid rollout", () => {
  test("withdraw the app at once from a cluster that none of them matches, whatever its stage waits for", async () => {
    const fleet = await gated({ spec: { targets: targetsOf("ams", "ber", "cgn") } });

    change(fleet, { targets: targetsOf("ams", "ber") });
    await fleet.pass();

    assert.equal(fleet.current().spec.version, "1.2.4");
    assert.equal(fleet.status().reason, "GateWaiting");
    assert.deepEqual(
      ["ams", "ber", "cgn"].map((name) => isWithdrawn(fleet, name)),
      [false, false, true],
    );
  });

  test("reach a new cluster with the revision that has them, and not before", async () => {
    const fleet = await gated({ spec: { targets: targetsOf("ams", "ber") } });
    const { number } = fleet.current().spec;

    change(fleet, { targets: targetsOf("ams", "ber", "cgn") });
    await fleet.pass();
    assert.equal(fleet.deployment("cgn")?.spec.deploymentID ?? "", "");
    assert.equal(fleet.current().spec.number, number);

    for (let round = 0; round < 6; round += 1) {
      if (fleet.status().reason === "GateWaiting") fleet.decide("board");
      await fleet.pass();
      fleet.ready();
      await fleet.pass();
    }
    assert.equal(fleet.current().spec.number, number + 1);
    assert.notEqual(fleet.deployment("cgn")?.spec.deploymentID ?? "", "");
    assert.equal(fleet.deployment("cgn")?.spec.promotion?.rollout, `web-${number + 1}`);
  });
});

describe("[3.9] a field that changes", () => {
  const revisions: readonly (readonly [what: string, fields: Partial<HelmOp["spec"]>])[] = [
    ["correctDrift", { correctDrift: { enabled: true } }],
    [
      "diff",
      { diff: { comparePatches: [{ kind: "ConfigMap", name: "a", jsonPointers: ["/data/a"] }] } },
    ],
    [
      "the history limit",
      {
        helm: { repo: "https://charts.example.com", chart: "web", version: "~1.2", maxHistory: 3 },
      },
    ],
  ];
  test.each(revisions)("is a revision like any other: %s", async (_, fields) => {
    const fleet = await started();
    const { number } = fleet.current().spec;

    change(fleet, fields);
    await fleet.pass();

    assert.equal(fleet.current().spec.number, number + 1);
    const promoted = ["ams", "ber", "cgn"].filter(
      (name) => fleet.deployment(name)?.spec.promotion?.rollout === `web-${number + 1}`,
    );
    assert.deepEqual(promoted, ["ams"]);
  });

  const others: readonly (readonly [what: string, change: (fleet: StagedFleet) => void])[] = [
    [
      "credentials",
      ({ leader }) => leader.putSecret(workspace, "login", { username: "a", password: "other" }),
    ],
    ["a downstream resource", ({ leader }) => leader.putSecret(workspace, "tls", { key: "other" })],
    ["the labels of a cluster", (fleet) => fleet.relabel("ber", { zone: "b" })],
  ];
  test.each(others)("is not staged: %s", async (_, changeIt) => {
    const fleet = await started(gatedRest, {
      begin(leader) {
        leader.putSecret(workspace, "login", { username: "a", password: "b" });
        leader.putSecret(workspace, "tls", { key: "k" });
      },
      spec: {
        helmSecretName: "login",
        downstreamResources: [{ kind: "Secret", name: "tls" }],
      },
    });
    const { number } = fleet.current().spec;
    const before = fleet.leader.rest.all(bundleDeployments).map(({ spec }) => spec.deploymentID);

    changeIt(fleet);
    await fleet.pass(20_000);

    assert.equal(fleet.current().spec.number, number);
    assert.equal(fleet.status().phase, "Completed");
    assert.deepEqual(
      fleet.leader.rest.all(bundleDeployments).map(({ spec }) => spec.deploymentID),
      before,
    );
  });
});

describe("[3.9] two leaders' writes of a BundleRollout", () => {
  test("conflict, and the second is a new step: it does what the first one's object says", async () => {
    const fleet = await started();
    const { rest } = fleet.leader;
    let conflicts = 0;
    rest.beforeWrite = (write) => {
      const number = fleet.rollouts().length;
      const newest = rest.peek(bundleRollouts, { namespace: workspace, name: `web-${number}` });
      if (write !== `replace bundlerollouts ${workspace}/web-2` || newest === undefined) return;
      rest.beforeWrite = () => undefined;
      conflicts += 1;
      rest.put(bundleRollouts, { ...newest, spec: { ...newest.spec, state: "Halted" } });
    };

    await fleet.publish("1.2.4");

    assert.equal(conflicts, 1);
    assert.equal(fleet.status().phase, "Halted");
    assert.deepEqual(fleet.having("1.2.4"), []);
  });
});

describe("[3.9] a clock that is set back in mid rollout", () => {
  test("makes nothing late that is promoted then", async () => {
    const fleet = await gated();
    const { clock } = fleet.leader;
    clock.setWallTime(clock.now() - 3_600_000);

    fleet.decide("board");
    await fleet.pass();
    const { phase, startedAt = "" } = fleet.status();
    assert.deepEqual(fleet.having("1.2.4"), ["ams", "ber", "cgn"]);
    assert.equal(phase, "Progressing");
    assert.ok((fleet.deployment("ber")?.spec.promotion?.at ?? "") >= startedAt);
    fleet.ready();
    await fleet.pass();

    assert.equal(fleet.status().phase, "Completed");
  });
});

describe("[3.9] a cluster that cannot be rolled back, because the old chart is gone", () => {
  test("does not hold up the others, and is named", async () => {
    const fleet = await started({ stages: [{ name: "all" }] });
    await fleet.publish("1.2.4");
    fleet.ready();
    await fleet.pass();
    fleet.command({ state: "RolledBack" });
    await fleet.pass();

    fleet.ready("ber", "cgn");
    fleet.fails("ams");
    await fleet.pass();
    assert.equal(fleet.status().phase, "RollingBack");
    assert.match(fleet.status().message ?? "", /1 are not ready yet: fleet-default\/ams/);
    await fleet.pass(16 * 60_000);

    assert.equal(fleet.status().phase, "RolledBack");
    assert.deepEqual(fleet.having("1.2.4"), []);
  });
});

describe("[1.9] an app that is paused in mid rollout", () => {
  test("goes on polling: the newest revision waits, and is rolled out after the pause", async () => {
    const fleet = await started();
    change(fleet, { paused: true });
    await fleet.pass();

    await fleet.publish("1.2.4");
    await fleet.publish("1.2.5");

    const helmOp = fleet.leader.rest.peek(helmOps, { namespace: workspace, name: "web" });
    assert.equal(helmOp?.status?.version, "1.2.5");
    assert.deepEqual(fleet.having("1.2.3"), ["ams", "ber", "cgn"]);
    change(fleet, { paused: false });
    for (let round = 0; round < 6; round += 1) {
      fleet.ready();
      await fleet.pass();
      if (fleet.status().reason === "GateWaiting") fleet.decide("board");
    }
    assert.deepEqual(fleet.having("1.2.5"), ["ams", "ber", "cgn"]);
  });

  test("is removed from a cluster that is removed from its targets", async () => {
    const fleet = await gated({ spec: { targets: targetsOf("ams", "ber", "cgn") } });
    change(fleet, { paused: true });
    await fleet.pass();
    assert.equal(fleet.status().reason, "Paused");

    change(fleet, { targets: targetsOf("ams", "ber") });
    await fleet.pass();

    assert.equal(isWithdrawn(fleet, "ber"), false);
    assert.equal(isWithdrawn(fleet, "cgn"), true);
  });

  test("has a Gate whose deadline stands still meanwhile", async () => {
    const fleet = await gated();
    const deadline = () => Date.parse(fleet.status().stages?.[1]?.gates?.at(-1)?.expiresAt ?? "");
    const before = deadline();
    change(fleet, { paused: true });
    await fleet.pass(10 * 60_000);
    change(fleet, { paused: false });
    await fleet.pass();

    const shiftedMs = deadline() - before;
    assert.ok(shiftedMs >= 9.9 * 60_000 && shiftedMs <= 10.1 * 60_000, String(shiftedMs));
    assert.equal(fleet.status().reason, "GateWaiting");
  });
});
