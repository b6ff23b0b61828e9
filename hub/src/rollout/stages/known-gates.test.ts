/** What the engine of staged rollouts answers about gates and after a halt: the rows of the specification's table, one test each. */
import assert from "node:assert/strict";
import { describe, test } from "vitest";
import {
  aSimulatedCluster,
  becomeReady,
  breakDown,
  canaryLabels,
  canaryThenProd,
  clusterOf,
  command,
  decideGate,
  fresh,
  gated,
  gatedProd,
  minutes,
  oneStage,
  pass,
  pause,
  report,
  rounds,
  settle,
  simulate,
  simulatedClusters,
  stageOf,
  statusOf,
} from "./testing/index.ts";

describe("gates", () => {
  test("nothing of a stage is promoted in the pass that stores its decision", () => {
    const simulation = simulate(gatedProd(), [
      aSimulatedCluster("ams", { labels: canaryLabels }),
      aSimulatedCluster("ber"),
    ]);
    rounds(simulation, 2);
    decideGate(simulation, "board", "Passed");

    assert.deepEqual(pass(simulation), []);
    assert.equal(stageOf(simulation, "prod")?.gates?.[0]?.result, "Passed");
    assert.deepEqual(settle(simulation), ["ber"]);
  });

  test("one that fails halts", () => {
    const simulation = gated();

    decideGate(simulation, "board", "Failed");

    assert.deepEqual(settle(simulation), []);
    const { phase, reason } = statusOf(simulation);
    assert.deepEqual([phase, reason], ["Halted", "GateFailed"]);
  });

  test("one that nobody decides fails after its timeout, and is asked for again after a resume", () => {
    const simulation = gated();
    pause(simulation, 25 * 60 * minutes);
    settle(simulation);
    assert.equal(statusOf(simulation).reason, "GateExpired");
    assert.equal(
      stageOf(simulation, "prod")?.gates?.[0]?.decision?.message,
      "no decision within 24h",
    );

    command(simulation, { resume: "now" });
    settle(simulation);
    assert.equal(stageOf(simulation, "prod")?.phase, "Gated");
    assert.equal(stageOf(simulation, "prod")?.gates?.[1]?.gate, "web-1-prod-board-2");
    decideGate(simulation, "board", "Passed");

    assert.deepEqual(settle(simulation), ["ber"]);
  });

  test("a decision about something else than the Gate counts for nothing", () => {
    const simulation = gated();
    const uid = stageOf(simulation, "prod")?.gates?.[0]?.uid ?? "";

    simulation.decisions.set(uid, { result: "Passed", by: "mallory", digest: "sha256:0" });
    assert.deepEqual(settle(simulation), []);
    simulation.decisions.set("uid-forged", {
      result: "Passed",
      by: "mallory",
      digest: stageOf(simulation, "prod")?.gates?.[0]?.digest ?? "",
    });

    assert.deepEqual(settle(simulation), []);
    assert.equal(stageOf(simulation, "prod")?.phase, "Gated");
  });

  test("a soak is interrupted by a cluster that is not ready, and starts over", () => {
    const strategy = canaryThenProd({}, { after: [{ name: "soak", soak: { for: "30m" } }] });
    const simulation = simulate(strategy, [
      aSimulatedCluster("ams", { labels: canaryLabels }),
      aSimulatedCluster("ber"),
    ]);
    rounds(simulation, 2);
    pause(simulation, 20 * minutes);
    breakDown(simulation, clusterOf(simulation, "ams"));
    settle(simulation);
    assert.equal(stageOf(simulation, "canary")?.gates?.[0]?.soakingSince, undefined);

    becomeReady(clusterOf(simulation, "ams"));
    settle(simulation);
    pause(simulation, 20 * minutes);
    assert.deepEqual(settle(simulation), []);
    assert.equal(stageOf(simulation, "canary")?.phase, "Soaking");
    pause(simulation, 11 * minutes);

    assert.deepEqual(settle(simulation), ["ber"]);
  });

  test("a soak starts over after a halt, in which nobody saw whether it was interrupted", () => {
    const strategy = canaryThenProd({}, { after: [{ name: "soak", soak: { for: "30m" } }] });
    const simulation = simulate(strategy, [
      aSimulatedCluster("ams", { labels: canaryLabels }),
      aSimulatedCluster("ber"),
    ]);
    rounds(simulation, 2);
    command(simulation, { state: "Halted" });
    settle(simulation);
    pause(simulation, 60 * minutes);
    command(simulation, { state: "Running" });

    assert.deepEqual(settle(simulation), []);
    assert.equal(stageOf(simulation, "canary")?.phase, "Soaking");
    pause(simulation, 31 * minutes);

    assert.deepEqual(settle(simulation), ["ber"]);
  });

  test("a pause stops soaks and deadlines", () => {
    const strategy = canaryThenProd({}, { after: [{ name: "soak", soak: { for: "30m" } }] });
    const simulation = simulate(strategy, [
      aSimulatedCluster("ams", { labels: canaryLabels }),
      aSimulatedCluster("ber"),
    ]);
    rounds(simulation, 2);
    pause(simulation, 10 * minutes);
    simulation.isPaused = true;
    settle(simulation);
    assert.equal(statusOf(simulation).reason, "Paused");
    pause(simulation, 60 * minutes);
    simulation.isPaused = false;

    assert.deepEqual(settle(simulation), []);
    assert.equal(stageOf(simulation, "canary")?.phase, "Soaking");
    pause(simulation, 21 * minutes);

    assert.deepEqual(settle(simulation), ["ber"]);
  });

  test("[1.9] a pause stops the deadline of a Gate, which is as much later afterwards", () => {
    const simulation = gated();
    const expiresAt = () => Date.parse(stageOf(simulation, "prod")?.gates?.[0]?.expiresAt ?? "");
    const before = expiresAt();
    simulation.isPaused = true;
    settle(simulation);
    pause(simulation, 30 * 60 * minutes);
    settle(simulation);
    assert.equal(statusOf(simulation).reason, "Paused");
    simulation.isPaused = false;
    settle(simulation);

    assert.equal(statusOf(simulation).reason, "GateWaiting");
    assert.equal(expiresAt() - before, 30 * 60 * minutes);
  });

  test("[3.9] a clock that is set back does not end a soak, nor make it negative", () => {
    const strategy = canaryThenProd({}, { after: [{ name: "soak", soak: { for: "30m" } }] });
    const simulation = simulate(strategy, [
      aSimulatedCluster("ams", { labels: canaryLabels }),
      aSimulatedCluster("ber"),
    ]);
    rounds(simulation, 2);
    assert.equal(stageOf(simulation, "canary")?.phase, "Soaking");

    pause(simulation, -60 * minutes);
    assert.deepEqual(settle(simulation), []);
    pause(simulation, 89 * minutes);
    assert.deepEqual(settle(simulation), []);
    assert.equal(stageOf(simulation, "canary")?.phase, "Soaking");
    pause(simulation, 2 * minutes);

    assert.deepEqual(settle(simulation), ["ber"]);
  });

  test("[3.9] a Gate that has expired by a clock that jumped stays so when the clock is set back", () => {
    const simulation = gated();
    pause(simulation, 25 * 60 * minutes);
    settle(simulation);
    pause(simulation, -25 * 60 * minutes);
    decideGate(simulation, "board", "Passed");

    assert.deepEqual(settle(simulation), []);
    const { phase, reason } = statusOf(simulation);
    assert.deepEqual([phase, reason], ["Halted", "GateExpired"]);
  });

  test("[3.9] a clock that is set back does not end the deadline of a Gate, nor that of a cluster", () => {
    const simulation = gated();
    const expiresAt = stageOf(simulation, "prod")?.gates?.[0]?.expiresAt;
    pause(simulation, -60 * minutes);
    settle(simulation);
    assert.equal(stageOf(simulation, "prod")?.gates?.[0]?.expiresAt, expiresAt);
    decideGate(simulation, "board", "Passed");

    assert.deepEqual(settle(simulation), ["ber"]);
    assert.deepEqual(settle(simulation), []);
    assert.equal(statusOf(simulation).clusters?.failed, 0);
  });
});

describe("after a halt", () => {
  test("a resume accepts the failures until then", () => {
    const simulation = simulate(oneStage({ maxUnavailable: 1 }), simulatedClusters(3));
    settle(simulation);
    clusterOf(simulation, "c00").hasGivenUp = true;
    settle(simulation);
    assert.equal(statusOf(simulation).phase, "Halted");

    command(simulation, { resume: "1" });

    assert.deepEqual(rounds(simulation, 2, ["c00"]), [["c01"], ["c02"]]);
    settle(simulation);
    assert.equal(stageOf(simulation, "all")?.acceptedFailures, 1);
    assert.equal(statusOf(simulation).phase, "Completed");
  });

  test("a person's halt ends when the state is Running again", () => {
    const simulation = simulate(oneStage({ maxUnavailable: 1 }), simulatedClusters(2));
    settle(simulation);
    command(simulation, { state: "Halted" });
    report(simulation);
    assert.deepEqual(settle(simulation), []);
    assert.equal(statusOf(simulation).phase, "Halted");

    command(simulation, { state: "Running" });

    assert.deepEqual(settle(simulation), ["c01"]);
  });

  test("onFailure Rollback gives back what each cluster had, under the limit", () => {
    const strategy = oneStage({ maxUnavailable: 2, onFailure: "Rollback" });
    const clusters = simulatedClusters(4);
    const simulation = simulate(strategy, clusters);
    rounds(simulation, 1);
    settle(simulation);
    clusterOf(simulation, "c02").hasGivenUp = true;

    assert.deepEqual(settle(simulation), ["c02", "c03"]);
    assert.equal(statusOf(simulation).phase, "RollingBack");
    report(simulation);
    assert.deepEqual(settle(simulation), ["c00", "c01"]);
    report(simulation);
    settle(simulation);

    assert.equal(statusOf(simulation).phase, "RolledBack");
    assert.deepEqual(
      clusters.map(({ desired }) => desired),
      ["v1", "v1", "v1", "v1"],
    );
    assert.deepEqual(settle(simulation), []);
  });

  test("what was installed for the first time stays after a rollback, and is named", () => {
    const simulation = simulate(oneStage(), [
      aSimulatedCluster("ams"),
      aSimulatedCluster("ber", fresh),
    ]);
    rounds(simulation, 1);

    command(simulation, { state: "RolledBack" });
    rounds(simulation, 2);

    assert.equal(statusOf(simulation).phase, "RolledBack");
    assert.deepEqual(statusOf(simulation).kept, { count: 1, first: ["ber"] });
    assert.equal(clusterOf(simulation, "ber").desired, "v2");
  });
});
