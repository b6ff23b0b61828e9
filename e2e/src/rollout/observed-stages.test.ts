/** What an observer of a staged rollout has to see: otherwise a limit could be exceeded unseen. */
import assert from "node:assert/strict";
import { test } from "vitest";
import { type LabelledStage, type ObservedRollout, observedStages } from "./observed-stages.ts";
import type { ClusterState, LabelState } from "./rollout-observer.ts";

const isCanary = ({ ring }: Readonly<Record<string, string>>) => ring === "canary";
const stages: readonly LabelledStage[] = [
  { name: "canary", takes: isCanary, maxUnavailable: 1, opensAt: 0 },
  { name: "prod", takes: () => true, maxUnavailable: 1, opensAt: 100 },
];

function labelled(cluster: string, ring: string, resourceVersion = 1): LabelState {
  return { atMs: resourceVersion * 1_000, resourceVersion, cluster, labels: { ring } };
}

/** One second for each resource version. */
function state(cluster: string, resourceVersion: number, fields: Partial<ClusterState> = {}) {
  const atMs = resourceVersion * 1_000;
  const promoted = { desired: "v2", isReady: false, promotedAtMs: atMs, unreadySinceMs: undefined };
  return { atMs, resourceVersion, cluster, ...promoted, ...fields };
}

function seen(states: readonly ClusterState[], labels: readonly LabelState[]): ObservedRollout {
  return { states, labels, content: "v2", deadlineMs: 60_000 };
}

const fleet = [
  ...[labelled("a", "canary"), labelled("b", "canary")],
  ...[labelled("c", "prod"), labelled("d", "prod")],
];

test("each stage has its own limit", () => {
  const { broken, largest } = observedStages(
    seen([state("a", 101), state("c", 102)], fleet),
    stages,
  );

  assert.deepEqual(broken, []);
  assert.deepEqual(
    [...largest],
    [
      ["canary", 1],
      ["prod", 1],
    ],
  );
});

test("one more in flight than a stage allows is seen, whatever the other stages leave free", () => {
  const { broken } = observedStages(seen([state("c", 101), state("d", 102)], fleet), stages);

  assert.deepEqual(broken, [
    "2 clusters of stage prod are in flight at resource version 102, and 1 may be",
  ]);
});

test("what is ready, or has failed since, is in flight no more", () => {
  const ready = state("a", 102, { isReady: true, promotedAtMs: 101_000 });
  const states = [state("a", 101), ready, state("b", 103), state("c", 104), state("d", 170)];

  assert.deepEqual(observedStages(seen(states, fleet), stages).broken, []);
});

test("a promotion before its stage opens is seen", () => {
  const { broken } = observedStages(seen([state("c", 50)], fleet), stages);

  assert.deepEqual(broken, [
    "c of stage prod was promoted at resource version 50, and the stage opened at 100",
  ]);
});

test("a cluster counts in the stage that its labels choose at that time", () => {
  const labels = [...fleet, labelled("c", "canary", 20)];

  assert.deepEqual(observedStages(seen([state("c", 50)], labels), stages).broken, []);
  assert.equal(observedStages(seen([state("c", 15)], labels), stages).broken.length, 1);
});

test("a second promotion to the same content is seen", () => {
  const { broken } = observedStages(seen([state("a", 10), state("a", 11)], fleet), stages);

  assert.deepEqual(broken, ["a was promoted again at resource version 11"]);
});
