/** How much the status of a BundleRollout says about what fails. */
import assert from "node:assert/strict";
import { test } from "vitest";
import {
  aSimulatedCluster,
  pause,
  report,
  type SimulatedCluster,
  settle,
  simulate,
  statusOf,
} from "./testing/index.ts";

const stageCount = 16;

/** In each stage `failing` clusters never become ready, and one does. */
function failedIn(stages: number, failing: number) {
  const regions = Array.from({ length: stages }, (_, index) => `region-${index}`);
  const bad: string[] = [];
  const clusters = regions.flatMap((region): SimulatedCluster[] => {
    const labels = { region };
    const names = Array.from({ length: failing }, (_, index) => `${region}-${index + 10}`);
    bad.push(...names);
    return [...names, `${region}-good`].map((name) => aSimulatedCluster(name, { labels }));
  });
  const simulation = simulate(
    {
      onFailure: "Continue",
      progressDeadline: "1m",
      stages: regions.map((name) => ({
        name,
        clusterSelector: { matchLabels: { region: name } },
      })),
    },
    clusters,
  );
  for (let stage = 0; stage < stages; stage += 1) {
    settle(simulation);
    report(simulation, bad);
    pause(simulation, 61_000);
  }
  settle(simulation);
  return statusOf(simulation);
}

test("ten failing clusters of a stage are named", () => {
  const { stages = [] } = failedIn(2, 12);

  assert.deepEqual(
    stages.map(({ failed, failing }) => [failed, failing?.length]),
    [
      [12, 10],
      [12, 10],
    ],
  );
});

test("with many stages each names fewer, so that the object stays small", () => {
  const status = failedIn(stageCount, 12);

  assert.equal(status.phase, "Completed");
  assert.deepEqual(
    status.stages?.map(({ failed, failing }) => [failed, failing?.length]),
    Array.from({ length: stageCount }, () => [12, 3]),
  );
});
