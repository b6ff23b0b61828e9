/**
 * In-memory state may be dropped at any time without changing what Schedules decide: random histories of a fleet with Schedules
 * are run twice, once with leaders that lose everything but their informers between any two steps.
 */
import assert from "node:assert/strict";
import {
  bundleDeployments,
  bundles,
  clusterGroups,
  clusters,
  helmOps,
  type Schedule,
  schedules,
} from "@flotilla/shared/api";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import fc from "fast-check";
import { test } from "vitest";
import { aSchedule, createTestLeader, workspace } from "../../testing/index.ts";
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

const kinds: readonly Resource<KubeObject>[] = [
  helmOps,
  bundles,
  bundleDeployments,
  clusters,
  clusterGroups,
  schedules,
];

type ScheduleStep =
  | FleetStep
  | { readonly kind: "schedule"; readonly name: string; readonly spec: Schedule["spec"] }
  | { readonly kind: "deleteSchedule"; readonly name: string };

const name = fc.constantFrom("first", "second");

const spec: fc.Arbitrary<Schedule["spec"]> = fc.record({
  // Open now, closed for a day, invalid, and one that opens and closes while a history runs.
  schedule: fc.constantFrom("0 0 0 * * ?", "0 0 12 * * ?", "0 0 25 * * ?", "0 * * * * ?"),
  duration: fc.constantFrom("30s", "40s"),
  targets: fc.constantFrom(
    { clusters: [{ clusterSelector: {} }] },
    { clusters: [{ clusterName: "paris" }] },
    { clusters: [{ clusterGroup: "all" }] },
    { clusters: [] },
  ),
});

const step: fc.Arbitrary<ScheduleStep> = fc.oneof(
  { weight: 3, arbitrary: fleetStep },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("schedule" as const), name, spec }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("deleteSchedule" as const), name }) },
);

function run(steps: readonly ScheduleStep[], drops: readonly boolean[]) {
  const repository: RepositoryState = { version: "1.2.3", isUp: true, requests: 0 };
  const leader = createTestLeader(resolverOf(repository));
  const { rest } = leader;
  function apply(each: ScheduleStep): void {
    switch (each.kind) {
      case "schedule": {
        const before = rest.peek(schedules, { namespace: workspace, name: each.name });
        rest.put(schedules, { ...(before ?? aSchedule(each.name)), spec: each.spec });
        return;
      }
      case "deleteSchedule":
        void rest.delete(schedules, { namespace: workspace, name: each.name });
        return;
      default:
        applyStep(leader, repository, each);
    }
  }
  return runHistory<ScheduleStep>({ leader, repository, steps, drops, apply, kinds });
}

test("leaders that lose their memory between any two steps open and close what one leader does", async () => {
  const histories = fc.array(fc.tuple(step, fc.boolean()), { minLength: 6, maxLength: 16 });
  const beginning: readonly ScheduleStep[] = [
    ...clusterNames.map((each) => ({ kind: "cluster", name: each, presence: "join" }) as const),
    {
      kind: "helmOp",
      name: "web",
      spec: { helm: { repo, chart: "web", version: "~1.2" }, targets: [{ clusterSelector: {} }] },
    },
  ];
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      const steps = [...beginning, ...history.map(([each]) => each)];
      const drops = [...beginning.map(() => true), ...history.map(([, drop]) => drop)];

      const one = await run(steps, []);
      const many = await run(steps, drops);

      assert.deepEqual(many, one);
    }),
    { numRuns: 8, endOnFailure: false },
  );
});
