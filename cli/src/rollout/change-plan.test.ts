import assert from "node:assert/strict";
import type { BundleRollout } from "@flotilla/shared/api/rollout";
import { describe, test } from "vitest";
import { type ChangePlan, planChange, type RolloutChange } from "./change-plan.ts";
import { aRollout, aStage } from "./testing/index.ts";

const app = { kind: "HelmOp", namespace: "fleet-default", name: "web" } as const;
const clusters = {
  total: 500,
  done: 85,
  inFlight: 2,
  failed: 1,
  pending: 412,
  offline: 0,
  paused: 0,
  skipped: 0,
  offSchedule: 0,
  brokenBefore: 0,
};
const next = { revision: "sha256:3", version: "1.4.3", since: "2026-12-01T09:00:00Z" };
const breach = {
  stage: "prod",
  cause: "Failures",
  action: "Halt",
  at: "2026-12-01T09:00:00Z",
  failed: 1,
  maxFailures: 0,
} as const;
const stages = [
  aStage({ name: "canary", phase: "Completed", total: 88, done: 85 }),
  aStage({
    name: "prod",
    phase: "Progressing",
    total: 412,
    done: 10,
    inFlight: 2,
    failing: [
      { cluster: "fleet-default/ams", message: "timed out", since: "2026-12-01T09:00:00Z" },
    ],
  }),
];

type Phase = NonNullable<BundleRollout["status"]>["phase"];
type Spec = Partial<BundleRollout["spec"]>;
type Status = Partial<NonNullable<BundleRollout["status"]>>;

function plan(
  change: RolloutChange,
  phase: Phase,
  { spec = {}, status = {} }: { readonly spec?: Spec; readonly status?: Status } = {},
): ChangePlan {
  const rollout = aRollout({ spec, status: { phase, clusters, stages, ...status } });
  return planChange(change, { app, rollout });
}

const resume = { kind: "resume", token: "now" } as const;
const retryFailed = { kind: "retry-failed", token: "now" } as const;
const skipLab = { kind: "skip-cluster", cluster: "fleet-default/lab-3" } as const;
const skipProd = { kind: "skip-stage", stage: "prod" } as const;

describe("what is written, and what is said about it in numbers", () => {
  const cases: readonly (readonly [
    given: string,
    change: RolloutChange,
    phase: Phase,
    parts: { readonly spec?: Spec; readonly status?: Status },
    patch: object | undefined,
    says: RegExp,
  ])[] = [
    [
      "halt while it progresses",
      { kind: "halt" },
      "Progressing",
      {},
      { state: "Halted" },
      /^halts rollout web-7 \(version 1\.4\.2\): 85 of 500 clusters have it, 2 in flight end by themselves, 412 wait until it is resumed$/,
    ],
    [
      "halt on the way back",
      { kind: "halt" },
      "RollingBack",
      {},
      { state: "Halted" },
      /^halts the way back of rollout web-7/,
    ],
    [
      "resume after somebody has halted it",
      resume,
      "Halted",
      { spec: { state: "Halted" } },
      { state: "Running" },
      /^resumes rollout web-7 \(version 1\.4\.2\): 412 of 500 clusters are left$/,
    ],
    [
      "resume after failures",
      resume,
      "Halted",
      { status: { breach } },
      { resume: "now" },
      /: 412 of 500 clusters are left; 1 failed cluster is accepted, and does not count against maxFailures again$/,
    ],
    [
      "resume after a gate has failed, and somebody has halted it too",
      resume,
      "Halted",
      {
        spec: { state: "Halted" },
        status: {
          breach: { ...breach, cause: "GateFailed", gate: "load-test" },
          clusters: { ...clusters, failed: 0 },
        },
      },
      { state: "Running", resume: "now" },
      /are left; the gate load-test of stage prod is asked for again$/,
    ],
    [
      "resume on the way back that was halted",
      resume,
      "RollingBack",
      { spec: { state: "Halted" } },
      { state: "RolledBack" },
      /^resumes the way back/,
    ],
    [
      "cancel",
      { kind: "cancel" },
      "Waiting",
      {},
      { state: "Cancelled" },
      /^ends rollout web-7 \(version 1\.4\.2\): 88 of 500 clusters have it, and all keep what they have$/,
    ],
    [
      "cancel while a newer revision waits",
      { kind: "cancel" },
      "Waiting",
      { status: { next } },
      { state: "Cancelled" },
      /; version 1\.4\.3 starts$/,
    ],
    [
      "supersede",
      { kind: "supersede" },
      "Waiting",
      { status: { next } },
      { state: "Cancelled" },
      /^ends rollout web-7 \(version 1\.4\.2\) and starts version 1\.4\.3, which waits since 2026-12-01T09:00:00Z: 88 of 500 clusters have it/,
    ],
    [
      "rollback where deployments may not be read",
      { kind: "rollback" },
      "Halted",
      {},
      { state: "RolledBack" },
      /: up to 88 clusters get back what they had before; those that had nothing keep it; 412 of 500 were not changed by it$/,
    ],
    [
      "rollback after it was completed",
      { kind: "rollback" },
      "Completed",
      {},
      { state: "RolledBack" },
      /^takes rollout web-7 \(version 1\.4\.2\) back, within its limits and without gates/,
    ],
    [
      "skip a cluster beside another one",
      skipLab,
      "Waiting",
      { spec: { skip: ["fleet-default/lab-1"] } },
      { skip: ["fleet-default/lab-1", "fleet-default/lab-3"] },
      /^skips fleet-default\/lab-3 in rollout web-7 .*; 2 of at most 500 are skipped$/,
    ],
    [
      "skip a stage",
      skipProd,
      "Halted",
      {},
      { skipStages: ["prod"] },
      /^passes over stage prod of rollout web-7 \(version 1\.4\.2\) with its gates: 400 of its 412 clusters are not promoted, and 12 that have it already keep it$/,
    ],
    [
      "retry of failed clusters after a halt",
      retryFailed,
      "Halted",
      { status: { breach } },
      { resume: "now" },
      /^asks the agents of 1 failed cluster of rollout web-7 \(version 1\.4\.2\) to try again \(fleet-default\/ams\); resumes it: /,
    ],
    [
      "retry of failed clusters that were tolerated",
      retryFailed,
      "Completed",
      {},
      undefined,
      /to try again \(fleet-default\/ams\)$/,
    ],
    [
      "retry of failed clusters while somebody has halted it",
      retryFailed,
      "Halted",
      { spec: { state: "Halted" }, status: { breach } },
      undefined,
      /; it stays halted until it is resumed$/,
    ],
  ];

  for (const [given, change, phase, parts, patch, says] of cases)
    test(given, () => {
      const planned = plan(change, phase, parts);

      assert.ok(planned.kind === "change", JSON.stringify(planned));
      assert.match(planned.says, says);
      assert.deepEqual(planned.patch, patch);
      assert.equal(planned.deletes, false);
      assert.equal(planned.requestsRetry, change.kind === "retry-failed");
    });

  test("rollback with what each cluster had", () => {
    const rollout = aRollout({ status: { phase: "Waiting", clusters } });

    const planned = planChange(
      { kind: "rollback" },
      { app, rollout, promoted: { upgraded: 85, installed: 3 } },
    );

    assert.match(
      planned.says,
      /: 85 clusters get back what they had before, 3 keep it, because they had nothing; 412 of 500 were not changed by it$/,
    );
  });

  test("retry deletes it, and says what a later rollback does not do", () => {
    const planned = plan({ kind: "retry" }, "Halted");

    assert.ok(planned.kind === "change");
    assert.deepEqual([planned.deletes, planned.patch], [true, undefined]);
    assert.match(
      planned.says,
      /^deletes rollout web-7 .*: 88 of 500 clusters have it, keep it, and a later rollback does not take it from them$/,
    );
  });
});

test.for([
  [{ kind: "halt" }, "Waiting", { state: "Halted" }, /is halted already/],
  [resume, "Progressing", {}, /is not halted/],
  [{ kind: "cancel" }, "Cancelled", {}, /is cancelled already/],
  [{ kind: "rollback" }, "RolledBack", {}, /is taken back already/],
  [{ kind: "rollback" }, "RollingBack", {}, /is being taken back already/],
  [skipLab, "Waiting", { skip: ["fleet-default/lab-3"] }, /skips fleet-default\/lab-3 already/],
  [skipProd, "Waiting", { skipStages: ["prod"] }, /passes over stage prod already/],
  [{ kind: "skip-stage", stage: "canary" }, "Waiting", {}, /stage canary .* is completed already/],
] as const)("nothing is written that is so already: %j in %s", ([change, phase, spec, says]) => {
  const planned = plan(change, phase, { spec });

  assert.equal(planned.kind, "nothing");
  assert.match(planned.says, says);
});

const over =
  /nothing of it changes any more: start the revision again with `flotilla rollout retry helmop\/web`/;

test.for([
  [{ kind: "halt" }, "Completed", /nothing is left to halt/],
  [{ kind: "halt" }, "Superseded", over],
  [resume, "Cancelled", over],
  [{ kind: "cancel" }, "RollingBack", /halt it, or wait until it is over/],
  [{ kind: "cancel" }, "Completed", /nothing is left to cancel/],
  [{ kind: "supersede" }, "Waiting", /no newer revision waits/],
  [{ kind: "rollback" }, "Cancelled", /set the version of the app/],
  [{ kind: "retry" }, "Completed", /use `flotilla reconcile --force`/],
  [{ kind: "retry" }, "RollingBack", /wait until that is over/],
  [retryFailed, "RolledBack", over],
  [skipLab, "Cancelled", over],
  [{ kind: "skip-stage", stage: "prd" }, "Waiting", /no stage prd: its stages are canary, prod$/],
] as const)("what has no effect is refused: %j in %s", ([change, phase, says]) => {
  const planned = plan(change, phase);

  assert.equal(planned.kind, "refused");
  assert.match(planned.says, says);
});

test("a list of skipped clusters that is full is refused", () => {
  const skip = Array.from({ length: 500 }, (_, index) => `fleet-default/c${index}`);

  const planned = plan(skipLab, "Waiting", { spec: { skip } });

  assert.equal(planned.kind, "refused");
  assert.match(planned.says, /skips 500 clusters, which is the limit/);
});

test("a rollout of which the hub has made no step is left alone", () => {
  const { status: _, ...rollout } = aRollout({});

  assert.equal(planChange({ kind: "halt" }, { app, rollout }).kind, "refused");
});
