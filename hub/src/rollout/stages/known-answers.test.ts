/** What the engine of staged rollouts answers about stages: the rows of the specification's table, one test each. */
import assert from "node:assert/strict";
import type { RolloutStrategy } from "@flotilla/shared/api";
import { describe, test } from "vitest";
import {
  aSimulatedCluster,
  becomeReady,
  breakDown,
  canaryLabels,
  canaryThenProd,
  clusterOf,
  command,
  counts,
  fresh,
  gatedProd,
  minutes,
  oneStage,
  pause,
  report,
  rounds,
  type SimulatedCluster,
  type Simulation,
  settle,
  simulate,
  simulatedClusters,
  stageOf,
  statusOf,
} from "./testing/index.ts";

describe("a stage", () => {
  test("10 ready, M 2: promotes two at a time, by name", () => {
    const simulation = simulate(oneStage({ maxUnavailable: 2 }), simulatedClusters(10));

    assert.deepEqual(rounds(simulation, 6), [
      ["c00", "c01"],
      ["c02", "c03"],
      ["c04", "c05"],
      ["c06", "c07"],
      ["c08", "c09"],
      [],
    ]);
    assert.equal(statusOf(simulation).phase, "Completed");
  });

  test("10 new, M 2: holds first installations, too", () => {
    const simulation = simulate(oneStage({ maxUnavailable: 2 }), simulatedClusters(10, fresh));

    assert.deepEqual(counts(rounds(simulation, 6)), [2, 2, 2, 2, 2, 0]);
  });

  test("10 ready, c0 is reported failed at once, maxFailures 0: halts, and promotes no third", () => {
    const simulation = simulate(oneStage({ maxUnavailable: 2 }), simulatedClusters(10));
    assert.deepEqual(settle(simulation), ["c00", "c01"]);

    clusterOf(simulation, "c00").hasGivenUp = true;
    becomeReady(clusterOf(simulation, "c01"));

    assert.deepEqual(settle(simulation), []);
    const { phase, reason, breach } = statusOf(simulation);
    assert.deepEqual([phase, reason, breach?.failed], ["Halted", "TooManyFailures", 1]);
  });

  test("the same, c0 only never becomes ready: one at a time beside c0 until its deadline, then halts", () => {
    const simulation = simulate(oneStage({ maxUnavailable: 2 }), simulatedClusters(10));

    assert.deepEqual(counts(rounds(simulation, 3, ["c00"])), [2, 1, 1]);
    pause(simulation, 16 * minutes);

    assert.deepEqual(settle(simulation), []);
    assert.equal(statusOf(simulation).phase, "Halted");
  });

  test("the same, maxFailures 1: all others, two at a time, completed with one failed", () => {
    const strategy = oneStage({ maxUnavailable: 2, maxFailures: 1 });
    const simulation = simulate(strategy, simulatedClusters(10));
    settle(simulation);
    clusterOf(simulation, "c00").hasGivenUp = true;
    report(simulation, ["c00"]);

    assert.deepEqual(counts(rounds(simulation, 5, ["c00"])), [2, 2, 2, 2, 0]);
    const { phase, clusters } = statusOf(simulation);
    assert.deepEqual([phase, clusters?.failed, clusters?.done], ["Completed", 1, 9]);
  });

  test("3 not ready before, M 1: those three first, one at a time, then the others", () => {
    const clusters = simulatedClusters(6);
    for (const name of ["c03", "c04", "c05"]) {
      const cluster = clusters.find((each) => each.name === name);
      if (cluster !== undefined) cluster.isReady = false;
    }
    const simulation = simulate(oneStage({ maxUnavailable: 1 }), clusters);
    const promoted = Array.from({ length: 6 }, () => {
      const names = settle(simulation);
      for (const name of names) becomeReady(clusterOf(simulation, name));
      return names;
    });

    assert.deepEqual(promoted, [["c03"], ["c04"], ["c05"], ["c00"], ["c01"], ["c02"]]);
  });

  test("2 offline, M 1: the others, completed; back later, one after the other", () => {
    const clusters = simulatedClusters(4);
    for (const cluster of clusters.slice(0, 2)) cluster.isConnected = false;
    const simulation = simulate(oneStage({ maxUnavailable: 1 }), clusters);

    assert.deepEqual(rounds(simulation, 3), [["c02"], ["c03"], []]);
    assert.equal(statusOf(simulation).phase, "Completed");
    assert.equal(statusOf(simulation).clusters?.offline, 2);

    for (const cluster of clusters) cluster.isConnected = true;
    assert.deepEqual(rounds(simulation, 3), [["c00"], ["c01"], []]);
    assert.equal(statusOf(simulation).phase, "Completed");
  });

  test("1 canary, offline: waits, because a stage of offline clusters proves nothing", () => {
    const clusters = [
      aSimulatedCluster("ams", {
        labels: canaryLabels,
        isConnected: false,
        offlineSince: "2026-11-30T10:00:00Z",
      }),
      aSimulatedCluster("ber"),
    ];
    const simulation = simulate(canaryThenProd(), clusters);

    assert.deepEqual(settle(simulation), []);
    const { phase, reason, message } = statusOf(simulation);
    assert.deepEqual([phase, reason], ["Waiting", "ClustersMissing"]);
    assert.equal(
      message,
      "stage canary: 0 of 1 done, ams offline since 2026-11-30T10:00:00Z: connect or resume enough of them, or change minSuccess",
    );
  });

  test("canary selector matches nothing: waits", () => {
    const simulation = simulate(canaryThenProd(), simulatedClusters(3));

    assert.deepEqual(settle(simulation), []);
    const { phase, reason, message } = statusOf(simulation);
    assert.deepEqual([phase, reason], ["Waiting", "StageEmpty"]);
    assert.match(message ?? "", /^stage canary matches none of 3 clusters/);
  });

  test("canary selector matches nothing, allowEmpty: goes on", () => {
    const simulation = simulate(canaryThenProd({}, { allowEmpty: true }), simulatedClusters(3));

    assert.deepEqual(counts(rounds(simulation, 2)), [3, 0]);
    assert.equal(stageOf(simulation, "canary")?.phase, "Skipped");
    assert.equal(statusOf(simulation).phase, "Completed");
  });

  test("cluster goes offline in flight, M 1: named, and failed after its deadline", () => {
    const simulation = simulate(oneStage({ maxUnavailable: 1 }), simulatedClusters(3));
    settle(simulation);
    clusterOf(simulation, "c00").isConnected = false;

    settle(simulation);
    assert.match(statusOf(simulation).message ?? "", /1 in flight: c00/);
    assert.equal(statusOf(simulation).phase, "Progressing");
    pause(simulation, 16 * minutes);

    assert.deepEqual(settle(simulation), []);
    assert.equal(statusOf(simulation).phase, "Halted");
  });

  test("the same, tolerated: the next one", () => {
    const strategy = oneStage({ maxUnavailable: 1, maxFailures: 1 });
    const simulation = simulate(strategy, simulatedClusters(3));
    settle(simulation);
    clusterOf(simulation, "c00").isConnected = false;
    pause(simulation, 16 * minutes);

    assert.deepEqual(rounds(simulation, 3), [["c01"], ["c02"], []]);
    assert.equal(statusOf(simulation).phase, "Completed");
  });

  test("canary becomes not ready again while prod runs, maxFailures 0: halts after its deadline", () => {
    const clusters = [aSimulatedCluster("ams", { labels: canaryLabels }), ...simulatedClusters(4)];
    const simulation = simulate(canaryThenProd({ maxUnavailable: 1 }), clusters);
    assert.deepEqual(rounds(simulation, 2), [["ams"], ["c00"]]);

    breakDown(simulation, clusterOf(simulation, "ams"));
    assert.deepEqual(rounds(simulation, 1, ["ams"]), [["c01"]]);
    pause(simulation, 16 * minutes);

    assert.deepEqual(settle(simulation), []);
    const { phase, breach } = statusOf(simulation);
    assert.deepEqual([phase, breach?.stage], ["Halted", "canary"]);
  });

  test("window closes with 3 in flight, M 5: these end, none is promoted", () => {
    const strategy: RolloutStrategy = {
      stages: [{ name: "all", maxUnavailable: 5, windows: [{ schedule: "nights" }] }],
    };
    const simulation = simulate(strategy, simulatedClusters(10));
    assert.equal(settle(simulation).length, 5);
    becomeReady(clusterOf(simulation, "c00"));
    becomeReady(clusterOf(simulation, "c01"));
    simulation.windows.set("nights", "closed");

    assert.deepEqual(settle(simulation), []);
    assert.equal(statusOf(simulation).clusters?.inFlight, 3);
    report(simulation);

    assert.deepEqual(settle(simulation), []);
    const { phase, reason, clusters } = statusOf(simulation);
    assert.deepEqual([phase, reason], ["Waiting", "WindowClosed"]);
    assert.deepEqual([clusters?.done, clusters?.offSchedule], [5, 5]);
    simulation.windows.set("nights", "open");
    assert.equal(settle(simulation).length, 5);
  });

  test("the same, with a time: waits with the sentence that says when window nights opens, and wakes then", () => {
    const strategy: RolloutStrategy = {
      stages: [{ name: "all", maxUnavailable: 1, windows: [{ schedule: "nights" }] }],
    };
    const simulation = simulate(strategy, simulatedClusters(2));
    const everyHour = { everyMs: 60 * minutes, forMs: 10 * minutes, offsetMs: 0 };
    simulation.windows.set("nights", everyHour);
    assert.deepEqual(settle(simulation), ["c00"]);
    pause(simulation, 10 * minutes);
    report(simulation);
    let wakesAtMs: number | undefined;
    simulation.onPass = ({ result }) => {
      ({ wakesAtMs } = result);
    };

    assert.deepEqual(settle(simulation), []);
    assert.equal(
      statusOf(simulation).message,
      "stage all: window nights opens at 2026-12-01T01:00:00Z; 1 cluster waits for it",
    );
    assert.equal(wakesAtMs, Date.parse("2026-12-01T01:00:00Z"));
    pause(simulation, 50 * minutes);
    assert.deepEqual(settle(simulation), ["c01"]);
  });

  test("paused cluster in canary of 2 members: completed with one done and one paused", () => {
    const clusters = [
      aSimulatedCluster("ams", { labels: canaryLabels }),
      aSimulatedCluster("ber", { labels: canaryLabels, isPaused: true }),
      aSimulatedCluster("cgn"),
    ];
    const simulation = simulate(canaryThenProd(), clusters);

    assert.deepEqual(rounds(simulation, 2), [["ams"], ["cgn"]]);
    const stage = stageOf(simulation, "canary");
    assert.deepEqual([stage?.phase, stage?.done, stage?.paused], ["Completed", 1, 1]);
  });

  test("a label moves a cluster from prod (pending) to canary (completed): promoted at once", () => {
    const clusters = [aSimulatedCluster("ams", { labels: canaryLabels }), ...simulatedClusters(2)];
    const simulation = simulate(gatedProd(), clusters);
    assert.deepEqual(rounds(simulation, 2), [["ams"], []]);
    assert.equal(stageOf(simulation, "prod")?.phase, "Gated");

    clusterOf(simulation, "c01").labels = canaryLabels;

    assert.deepEqual(settle(simulation), ["c01"]);
    assert.equal(stageOf(simulation, "canary")?.phase, "Completed");
  });

  test("a label moves a cluster from canary (has R) to prod (gated): stays, and counts as done there", () => {
    const clusters = [
      aSimulatedCluster("ams", { labels: canaryLabels }),
      aSimulatedCluster("ber", { labels: canaryLabels }),
      ...simulatedClusters(2),
    ];
    const simulation = simulate(gatedProd(), clusters);
    rounds(simulation, 2);

    clusterOf(simulation, "ber").labels = {};

    assert.deepEqual(settle(simulation), []);
    assert.equal(clusterOf(simulation, "ber").desired, "v2");
    assert.deepEqual(
      [stageOf(simulation, "prod")?.phase, stageOf(simulation, "prod")?.done],
      ["Gated", 1],
    );
  });

  test.each([
    ["gated", (simulation: Simulation) => settle(simulation)],
    ["halted", (simulation: Simulation) => command(simulation, { state: "Halted" })],
  ])("a new cluster in prod while it is %s gets the stable revision", (_, hold) => {
    const clusters = [aSimulatedCluster("ams", { labels: canaryLabels }), ...simulatedClusters(2)];
    const simulation = completedWith("v1", gatedProd(), clusters);
    rounds(simulation, 2);
    hold(simulation);
    settle(simulation);

    simulation.clusters.set("new", aSimulatedCluster("new", fresh));
    settle(simulation);

    assert.equal(clusterOf(simulation, "new").desired, "v1");
  });

  test("a new cluster in canary while its soak runs gets the stable revision, then R when canary is completed", () => {
    const clusters = [aSimulatedCluster("ams", { labels: canaryLabels }), ...simulatedClusters(2)];
    const soaking = canaryThenProd({}, { after: [{ name: "soak", soak: { for: "30m" } }] });
    const simulation = completedWith("v1", soaking, clusters);
    rounds(simulation, 2);
    assert.equal(stageOf(simulation, "canary")?.phase, "Soaking");

    simulation.clusters.set("new", aSimulatedCluster("new", { ...fresh, labels: canaryLabels }));
    settle(simulation);
    assert.equal(clusterOf(simulation, "new").desired, "v1");
    report(simulation);
    pause(simulation, 31 * minutes);
    settle(simulation);

    assert.equal(stageOf(simulation, "canary")?.phase, "Completed");
    assert.equal(clusterOf(simulation, "new").desired, "v2");
  });

  test("a new cluster in the first rollout ever whose stage is not reached gets nothing", () => {
    const clusters = [aSimulatedCluster("ams", { labels: canaryLabels, ...fresh })];
    const simulation = simulate(gatedProd(), clusters);
    simulation.clusters.set("new", aSimulatedCluster("new", fresh));

    rounds(simulation, 3);

    assert.equal(clusterOf(simulation, "new").desired, "");
    assert.equal(stageOf(simulation, "prod")?.pending, 1);
  });

  test("a cluster that broke down since, and cannot be promoted, uses up the limit, and is named", () => {
    const simulation = simulate(oneStage({ maxUnavailable: 1 }), simulatedClusters(3));
    assert.deepEqual(settle(simulation), ["c00"]);
    pause(simulation, minutes);
    const broken = clusterOf(simulation, "c02");
    breakDown(simulation, broken);
    broken.isPaused = true;
    report(simulation);

    assert.deepEqual(settle(simulation), []);
    const { phase, reason, message } = statusOf(simulation);
    assert.deepEqual([phase, reason], ["Waiting", "LimitReached"]);
    assert.equal(message, "stage all: 1 cluster of at most 1 unavailable: c02");
  });

  test("M 100 %, 5 stages, all pass: five steps", () => {
    const regions = ["a", "b", "c", "d", "e"];
    const strategy: RolloutStrategy = {
      stages: regions.map((region) => ({
        name: region,
        clusterSelector: { matchLabels: { region } },
      })),
    };
    const clusters = regions.flatMap((region) =>
      [0, 1, 2].map((index) => aSimulatedCluster(`${region}${index}`, { labels: { region } })),
    );
    const simulation = simulate(strategy, clusters);

    assert.deepEqual(counts(rounds(simulation, 6)), [3, 3, 3, 3, 3, 0]);
    assert.equal(statusOf(simulation).phase, "Completed");
  });

  test("all members failed, and all failures tolerated: halts, because nothing is ready", () => {
    const strategy = oneStage({ maxUnavailable: 2, maxFailures: 2 });
    const simulation = simulate(strategy, simulatedClusters(2));
    settle(simulation);
    for (const cluster of simulation.clusters.values()) cluster.hasGivenUp = true;

    settle(simulation);

    const { phase, reason, message } = statusOf(simulation);
    assert.deepEqual([phase, reason], ["Halted", "NothingReady"]);
    assert.equal(message, "no cluster of stage all is ready");
  });
});

/** A fleet whose rollout of a revision is completed, and that now desires v2. */
function completedWith(
  revision: string,
  strategy: RolloutStrategy,
  clusters: readonly SimulatedCluster[],
): Simulation {
  const simulation = simulate(strategy, clusters);
  simulation.desired = revision;
  settle(simulation);
  assert.equal(statusOf(simulation).phase, "Completed");
  simulation.desired = "v2";
  return simulation;
}
