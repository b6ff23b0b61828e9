/**
 * In-memory state may be dropped at any time without changing a decision: random histories of a fleet are run twice,
 * once with leaders that lose everything but their informers between any two steps, and both runs must decide the same.
 */
import assert from "node:assert/strict";
import { bundleDeployments, bundles, clusterGroups, clusters, helmOps } from "@flotilla/shared/api";
import { clusterNamespaceName } from "@flotilla/shared/api/names";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import fc from "fast-check";
import { test } from "vitest";
import { createTestLeader, workspace } from "../../testing/index.ts";
import {
  applyStep,
  clusterNames,
  type FleetStep,
  fleetStep,
  type RepositoryState,
  repo,
  resolverOf,
  runHistory,
} from "./testing/index.ts";

/** Without contents: how long an unreferenced one stays is counted in memory, and a new leader starts again. */
const kinds: readonly Resource<KubeObject>[] = [
  helmOps,
  bundles,
  bundleDeployments,
  clusters,
  clusterGroups,
];

function run(steps: readonly FleetStep[], drops: readonly boolean[]) {
  const repository: RepositoryState = { version: "1.2.3", isUp: true, requests: 0 };
  const leader = createTestLeader(resolverOf(repository));
  const apply = (step: FleetStep) => applyStep(leader, repository, step);
  return runHistory({ leader, repository, steps, drops, apply, kinds });
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

      const one = await run(steps, []);
      const many = await run(steps, drops);

      assert.deepEqual(many, one);
    }),
    { numRuns: 15, endOnFailure: false },
  );
});

test("the histories have effects: charts are resolved, deployed and ready", async () => {
  const decisions = await run(
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
