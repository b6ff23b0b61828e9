/** [3.4, 3.6] What the engine of staged rollouts makes of the tests of a release: of a gate `test`, and of clusters that are done. */
import assert from "node:assert/strict";
import type { RolloutStrategy } from "@flotilla/shared/api";
import { describe, test } from "vitest";
import {
  aSimulatedCluster,
  canaryLabels,
  canaryThenProd,
  clusterOf,
  minutes,
  oneStage,
  pause,
  report,
  type Simulation,
  settle,
  simulate,
  simulatedClusters,
  stageOf,
  statusOf,
} from "./testing/index.ts";

const withTestGate: RolloutStrategy = canaryThenProd({}, { after: [{ name: "tests", test: {} }] });

/** Two canaries that have v2 and are ready, before their tests have ended. `counts`: without `ignoreFailures`. */
function canariesReady(
  strategy: RolloutStrategy,
  { counts }: { readonly counts: boolean },
): Simulation {
  const simulation = simulate(strategy, [
    aSimulatedCluster("ams", { labels: canaryLabels }),
    aSimulatedCluster("ber", { labels: canaryLabels }),
    aSimulatedCluster("cgn"),
  ]);
  for (const cluster of simulation.clusters.values())
    cluster.tests = counts ? "Required" : "Ignored";
  settle(simulation);
  report(simulation);
  settle(simulation);
  return simulation;
}

function tested(simulation: Simulation, results: Readonly<Record<string, boolean>>): void {
  for (const [name, testsPassed] of Object.entries(results))
    clusterOf(simulation, name).testsPassed = testsPassed;
}

function gateOf(simulation: Simulation) {
  const gate = stageOf(simulation, "canary")?.gates?.[0];
  return [gate?.result, gate?.reason, gate?.decision?.message];
}

describe("[3.4] the gate test", () => {
  test("passes when the tests of all members that are done have passed", () => {
    const simulation = canariesReady(withTestGate, { counts: true });

    tested(simulation, { ams: true, ber: true });

    assert.deepEqual(settle(simulation), ["cgn"]);
    assert.deepEqual(gateOf(simulation), ["Passed", "Met", "the tests of the chart have passed"]);
  });

  test("is not asked for while the tests of a member run, which is not done", () => {
    const simulation = canariesReady(withTestGate, { counts: true });

    tested(simulation, { ams: true });

    assert.deepEqual(settle(simulation), []);
    assert.equal(stageOf(simulation, "canary")?.phase, "Progressing");
    assert.deepEqual(gateOf(simulation), [undefined, undefined, undefined]);
  });

  test("does not pass by the members that are done beside one whose tests have failed: that is a failure", () => {
    const simulation = canariesReady(withTestGate, { counts: true });
    tested(simulation, { ams: true, ber: false });
    clusterOf(simulation, "ber").hasGivenUp = true;

    assert.deepEqual(settle(simulation), []);
    const { phase, reason } = statusOf(simulation);
    assert.deepEqual([phase, reason], ["Halted", "TooManyFailures"]);
  });

  test("with ignoreFailures waits for tests that run", () => {
    const simulation = canariesReady(withTestGate, { counts: false });

    tested(simulation, { ams: true });

    assert.deepEqual(settle(simulation), []);
    assert.equal(stageOf(simulation, "canary")?.phase, "Verifying");
    assert.deepEqual(gateOf(simulation), ["Waiting", undefined, undefined]);
    assert.match(statusOf(simulation).message ?? "", /tests/);
  });

  test("with ignoreFailures fails by a test that has failed: who asks for a gate wants its result", () => {
    const simulation = canariesReady(withTestGate, { counts: false });

    tested(simulation, { ams: true, ber: false });

    assert.deepEqual(settle(simulation), []);
    assert.deepEqual(gateOf(simulation), ["Failed", "Met", "the tests of the chart have failed"]);
    const { phase, reason } = statusOf(simulation);
    assert.deepEqual([phase, reason], ["Halted", "GateFailed"]);
  });

  test("counts the tests of this content alone: those of before a promotion are forgotten", () => {
    const simulation = simulate(withTestGate, [
      aSimulatedCluster("ams", { labels: canaryLabels, testsPassed: true }),
      aSimulatedCluster("cgn"),
    ]);
    settle(simulation);
    report(simulation);

    assert.deepEqual(settle(simulation), []);
    assert.deepEqual(gateOf(simulation), ["Waiting", undefined, undefined]);
  });

  test("that nothing ends expires", () => {
    const simulation = canariesReady(withTestGate, { counts: false });
    pause(simulation, 25 * 60 * minutes);

    assert.deepEqual(settle(simulation), []);
    assert.equal(statusOf(simulation).reason, "GateExpired");
  });
});

describe("[3.6] a cluster whose release runs tests", () => {
  function ready(testsPassed: boolean | undefined, needsTests = true): Simulation {
    const simulation = simulate(oneStage({ maxUnavailable: 1 }), simulatedClusters(2));
    for (const cluster of simulation.clusters.values())
      cluster.tests = needsTests ? "Required" : "Ignored";
    settle(simulation);
    report(simulation);
    clusterOf(simulation, "c00").testsPassed = testsPassed;
    return simulation;
  }

  test("is done once they have passed", () => {
    const simulation = ready(true);

    assert.deepEqual(settle(simulation), ["c01"]);
    assert.equal(statusOf(simulation).clusters?.done, 1);
  });

  test("is in flight while they run, and holds its place", () => {
    const simulation = ready(undefined);

    assert.deepEqual(settle(simulation), []);
    const { done, inFlight } = statusOf(simulation).clusters ?? {};
    assert.deepEqual([done, inFlight], [0, 1]);
  });

  test("is in flight after they have failed, as long as its agent tries again", () => {
    const simulation = ready(false);

    assert.deepEqual(settle(simulation), []);
    assert.equal(statusOf(simulation).clusters?.inFlight, 1);
  });

  test("has failed when its tests have not passed within its deadline", () => {
    const simulation = ready(undefined);
    pause(simulation, 16 * minutes);

    assert.deepEqual(settle(simulation), []);
    assert.equal(statusOf(simulation).phase, "Halted");
  });

  test("is done whatever they say, with ignoreFailures", () => {
    assert.deepEqual(settle(ready(false, false)), ["c01"]);
    assert.deepEqual(settle(ready(undefined, false)), ["c01"]);
  });
});
