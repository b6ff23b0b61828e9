/**
 * In-memory state may be dropped at any time without changing a decision: random histories of a fleet are run twice,
 * once with leaders that lose everything but their informers between any two steps, and both runs must decide the same.
 */
import assert from "node:assert/strict";
import { bundleDeployments, bundles, clusterGroups, clusters, helmOps } from "@flotilla/shared/api";
import { clusterNamespaceName } from "@flotilla/shared/api/names";
import { type KubeObject, keyOf, type Resource } from "@flotilla/shared/kube/objects";
import fc from "fast-check";
import { test } from "vitest";
import { createTestLeader, type TestLeader, workspace } from "../testing/index.ts";
import {
  applyStep,
  clusterNames,
  type FleetStep,
  fleetStep,
  type RepositoryState,
  repo,
  resolverOf,
} from "./testing/index.ts";

/** Longer than the delay of a status write. */
const quietMs = 1_119;

/**
 * A step takes a multiple of this time, so that both histories are at the same time whatever a rate limiter delays. No
 * step ends at a whole second after another: retries do, and one may be some milliseconds late after a conflict.
 */
const stepMs = 5_037;

/** Steps after which a fleet has settled in any history. */
const mostSteps = 40;

/** Runs a history; returns what was decided after each step. */
async function runHistory(
  steps: readonly FleetStep[],
  drops: readonly boolean[],
): Promise<readonly unknown[]> {
  const repository: RepositoryState = { version: "1.2.3", isUp: true, requests: 0 };
  const leader = createTestLeader(resolverOf(repository));
  const decisions: unknown[] = [];
  try {
    for (const [index, each] of steps.entries()) {
      if (drops[index] === true) await leader.drop();
      applyStep(leader, repository, each);
      if (each.kind === "wait") await leader.pass(each.ms);
      await untilSettled(leader, repository);
      decisions.push({ step: each, requests: repository.requests, objects: snapshot(leader) });
    }
  } finally {
    await leader.stop();
  }
  return decisions;
}

/** Advances the clock until a step makes no request and no write, so that each status is written. */
async function untilSettled(leader: TestLeader, repository: RepositoryState): Promise<void> {
  for (let steps = 0; steps < mostSteps; steps += 1) {
    await leader.pass(stepMs - quietMs);
    const before = [leader.rest.writes.length, repository.requests];
    await leader.pass(quietMs);
    const after = [leader.rest.writes.length, repository.requests];
    if (after.every((count, index) => count === before[index])) return;
  }
  assert.fail(`it never settles: ${leader.rest.writes.slice(-10).join(", ")}`);
}

/** Without contents: how long an unreferenced one stays is counted in memory, and a new leader starts again. */
const kinds: readonly Resource<KubeObject>[] = [
  helmOps,
  bundles,
  bundleDeployments,
  clusters,
  clusterGroups,
];

/** Fields with a timestamp or a UID, or that depend on the number of writes. */
const volatileFields: ReadonlySet<string> = new Set([
  "uid",
  "flotilla.dev/bundle-uid",
  "flotilla.dev/signature",
  "resourceVersion",
  "lastTransitionTime",
  "lastUpdateTime",
  "lastPollingTriggered",
  "nextAttemptTime",
  "time",
]);

function snapshot({ rest }: TestLeader): readonly unknown[] {
  return kinds.flatMap((kind) =>
    rest
      .all(kind)
      .toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
      .map((object) => stable(object)),
  );
}

function stable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(stable);
  if (typeof value === "string") return value.replace(/retrying at \S+Z/, "retrying");
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([field]) => !volatileFields.has(field))
      .map(([field, inner]) => [field, stable(inner)] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
}

test("leaders that lose their memory between any two steps decide what one leader does", async () => {
  const histories = fc.array(fc.tuple(fleetStep, fc.boolean()), { minLength: 6, maxLength: 24 });
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      const creations: readonly FleetStep[] = clusterNames.map((each) => ({
        kind: "cluster",
        name: each,
        presence: "join",
      }));
      const steps = [...creations, ...history.map(([each]) => each)];
      const drops = [...creations.map(() => true), ...history.map(([, drop]) => drop)];

      const one = await runHistory(steps, []);
      const many = await runHistory(steps, drops);

      assert.deepEqual(many, one);
    }),
    { numRuns: 15, endOnFailure: false },
  );
});

test("the histories have effects: charts are resolved, deployed and ready", async () => {
  const decisions = await runHistory(
    [
      { kind: "cluster", name: "paris", presence: "join" },
      {
        kind: "helmOp",
        name: "web",
        spec: { helm: { repo, chart: "web", version: "~1.2" }, targets: [{ clusterSelector: {} }] },
      },
      { kind: "agents", report: "ready" },
    ],
    [],
  );

  const last = JSON.stringify(decisions.at(-1));
  assert.match(last, /"readyClusters":1/);
  assert.ok(last.includes(clusterNamespaceName(workspace, "paris")));
});
