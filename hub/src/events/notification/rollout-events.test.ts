/** The events of staged rollouts: each transition is one event, and nothing else is one. */
import assert from "node:assert/strict";
import type {
  BundleRollout,
  BundleRolloutStatus,
  GateRecord,
  StageStatus,
} from "@flotilla/shared/api/rollout";
import { describe, test } from "vitest";
import { aBundle, aHelmOp } from "../../testing/index.ts";
import { rolloutEvents } from "./rollout-events.ts";

const helmOp = aHelmOp();
const none = { total: 0, done: 0, inFlight: 0, failed: 0, pending: 0, offline: 0 };
const counts = { ...none, paused: 0, skipped: 0, offSchedule: 0, brokenBefore: 0 };

function rolloutWith(status: BundleRolloutStatus | undefined): BundleRollout {
  return {
    apiVersion: "flotilla.dev/v1alpha1",
    kind: "BundleRollout",
    metadata: { name: "web-7", namespace: "fleet-default", uid: "uid-7" },
    spec: {
      bundle: { name: "web", uid: "uid-web" },
      app: { kind: "HelmOp", name: "web" },
      number: 7,
      revision: "sha256:a",
      version: "1.4.2",
      targets: [],
      signature: "",
    },
    ...(status !== undefined && { status }),
  };
}

function stage(phase: StageStatus["phase"], fields: Partial<StageStatus> = {}): StageStatus {
  return { name: "prod", phase, ...counts, total: 4, ...fields };
}

function status(
  phase: BundleRolloutStatus["phase"],
  stages: readonly StageStatus[] = [],
  fields: Partial<BundleRolloutStatus> = {},
): BundleRolloutStatus {
  const since = "2026-12-01T00:00:00.000Z";
  return { phase, since, clusters: { ...counts, total: 4, done: 1 }, stages, ...fields };
}

function gate(result: GateRecord["result"], fields: Partial<GateRecord> = {}): GateRecord {
  return {
    ...{ name: "change-board", when: "Before", type: "Approval", result },
    ...{ gate: "web-7-prod-change-board", digest: "sha256:d", startedAt: "2026-12-01T00:00:00Z" },
    expiresAt: "2026-12-04T00:00:00Z",
    ...fields,
  };
}

function gated(...gates: readonly GateRecord[]): BundleRolloutStatus {
  return status("Waiting", [stage("Gated", { gates })]);
}

const breach: NonNullable<BundleRolloutStatus["breach"]> = {
  stage: "prod",
  cause: "Failures",
  action: "Halt",
  at: "2026-12-01T00:00:00Z",
  failed: 2,
  maxFailures: 1,
};

const decision = (by: string, result: "Passed" | "Failed", message = "") => ({
  ...{ result, by, at: "2026-12-01T00:00:00Z", digest: "sha256:d" },
  ...(message !== "" && { message }),
});

const progressing = status("Progressing", [stage("Progressing")]);
const rollingBack = status("RollingBack", [stage("Halted")]);

type Row = readonly [
  what: string,
  before: BundleRolloutStatus | undefined,
  after: BundleRolloutStatus,
  expected: readonly string[],
];

const rows: readonly Row[] = [
  [
    "a rollout that starts",
    undefined,
    status("Progressing", [stage("Pending")]),
    ["Normal RolloutStarted"],
  ],
  [
    "one that finds every cluster with its revision",
    undefined,
    status("Completed", [stage("Completed")]),
    [],
  ],
  [
    "a stage that starts",
    status("Progressing", [stage("Pending")]),
    progressing,
    ["Normal StageStarted"],
  ],
  [
    "a stage that starts with a gate",
    status("Progressing", [stage("Pending")]),
    gated(gate("Waiting")),
    ["Normal StageStarted", "Normal GateWaiting"],
  ],
  [
    "a stage that is passed over",
    status("Progressing", [stage("Pending")]),
    status("Progressing", [stage("Skipped")]),
    [],
  ],
  [
    "a stage that was passed over and has clusters now",
    status("Completed", [stage("Skipped")]),
    progressing,
    ["Normal StageStarted"],
  ],
  ["numbers", progressing, status("Progressing", [stage("Progressing", { done: 3 })]), []],
  ["a wait between two promotions", progressing, status("Waiting", [stage("Progressing")]), []],
  [
    "a soak that begins",
    status("Progressing", [stage("Progressing")]),
    status("Waiting", [stage("Soaking", { gates: [gate("Waiting", { type: "Soak" })] })]),
    ["Normal GateWaiting"],
  ],
  [
    "a stage that is completed",
    progressing,
    status("Progressing", [stage("Completed")]),
    ["Normal StageCompleted"],
  ],
  ["a gate that is created", gated(gate("Waiting")), gated(gate("Waiting", { uid: "u" })), []],
  [
    "a gate that passes",
    gated(gate("Waiting")),
    status("Progressing", [stage("Progressing", { gates: [gate("Passed")] })]),
    ["Normal GatePassed"],
  ],
  [
    "a gate that fails and halts",
    gated(gate("Waiting")),
    status("Halted", [stage("Halted", { gates: [gate("Failed")] })], {
      breach: { ...breach, cause: "GateFailed" },
    }),
    ["Warning GateFailed", "Warning RolloutHalted"],
  ],
  [
    "a gate that is asked for again",
    gated(gate("Failed")),
    gated(gate("Failed"), gate("Waiting", { gate: "web-7-prod-change-board-2" })),
    ["Normal GateWaiting"],
  ],
  [
    "a halt by failures",
    progressing,
    status("Halted", [stage("Halted")], { breach }),
    ["Warning RolloutHalted"],
  ],
  [
    "a halt by a person",
    progressing,
    status("Halted", [stage("Progressing")], { reason: "Requested" }),
    ["Warning RolloutHalted"],
  ],
  [
    "a stage that matches no cluster",
    progressing,
    status("Waiting", [stage("Progressing")], { reason: "StageEmpty" }),
    ["Warning StageEmpty"],
  ],
  ["a halt that goes on", status("Halted", [stage("Halted")], { breach }), progressing, []],
  [
    "a rollback by failures",
    progressing,
    status("RollingBack", [stage("Halted")], { breach }),
    ["Warning RollbackStarted"],
  ],
  [
    "a rollback by a person",
    progressing,
    status("RollingBack", [stage("Progressing")]),
    ["Normal RollbackStarted"],
  ],
  [
    "a rollback that has ended",
    rollingBack,
    status("RolledBack", [stage("Halted")]),
    ["Normal RolledBack"],
  ],
  [
    "a rollback to the desired revision that has ended",
    rollingBack,
    status("Superseded", [stage("Halted")]),
    ["Normal RolledBack"],
  ],
  [
    "the last stage",
    progressing,
    status("Completed", [stage("Completed")]),
    ["Normal StageCompleted", "Normal RolloutCompleted"],
  ],
  [
    "a newer revision",
    progressing,
    status("Superseded", [stage("Progressing")]),
    ["Normal RolloutSuperseded"],
  ],
  [
    "a newer revision after the end",
    status("Completed"),
    status("Superseded"),
    ["Normal RolloutSuperseded"],
  ],
  [
    "an end by a person",
    progressing,
    status("Cancelled", [stage("Progressing")]),
    ["Normal RolloutCancelled"],
  ],
];

describe("the events of a staged rollout are those of", () => {
  test.each(rows)("%s", (_, before, after, expected) => {
    const events = rolloutEvents(helmOp, rolloutWith(before), after);

    assert.deepEqual(
      events.map(({ type, reason }) => `${type} ${reason}`),
      expected,
    );
    assert.deepEqual(
      rolloutEvents(helmOp, rolloutWith(after), after),
      [],
      "once it is stored, none",
    );
  });
});

function only(before: BundleRolloutStatus | undefined, after: BundleRolloutStatus) {
  const [event, ...others] = rolloutEvents(helmOp, rolloutWith(before), after);
  assert.ok(event !== undefined && others.length === 0);
  return event;
}

describe("an event of a staged rollout says", () => {
  test("which command approves, for how long it is waited for, and before how many clusters", () => {
    const event = only(gated(), gated(gate("Waiting")));

    assert.equal(
      event.note,
      "stage prod waits for the approval change-board before version 1.4.2 reaches its 4 clusters, for 72h at most: flotilla approve helmop/web --stage prod sha256:d -n fleet-default",
    );
  });

  test("which command answers another gate", () => {
    const external = gate("Waiting", { type: "External", when: "After" });

    assert.match(
      only(gated(), gated(external)).note,
      /^stage prod waits for the gate change-board after version 1\.4\.2 has reached its 4 clusters, .*: flotilla gate pass web-7-prod-change-board -n fleet-default, or gate fail$/,
    );
  });

  test("who decided, and why", () => {
    const rejected = gate("Failed", {
      reason: "Decided",
      decision: decision("alice", "Failed", "CHG-7"),
    });
    const expired = gate("Failed", {
      reason: "Expired",
      decision: decision("", "Failed", "no decision within 72h"),
    });

    assert.equal(
      only(gated(gate("Waiting")), gated(rejected)).note,
      "the approval change-board of stage prod has failed: decided by alice: CHG-7",
    );
    assert.equal(
      only(gated(gate("Waiting")), gated(expired)).note,
      "the approval change-board of stage prod has failed: no decision within 72h",
    );
  });

  test("why it was halted, with the first clusters that fail and the command to go on", () => {
    const failing = [
      { cluster: "fleet-default/ams", message: "it does not start", since: "2026-12-01T00:00:00Z" },
    ];
    const halted = status("Halted", [stage("Halted", { failing })], { breach });

    assert.equal(
      only(progressing, halted).note,
      "rollout web-7 of version 1.4.2 is halted, ready in 1 of 4 clusters: 2 clusters of stage prod failed, more than the 1 that may: fleet-default/ams (fleet-default/ams: it does not start); to go on: flotilla rollout resume helmop/web -n fleet-default",
    );
  });

  test("which clusters keep what was taken back, and at most five of them", () => {
    const first = Array.from({ length: 10 }, (_, index) => `fleet-default/c${index}`);
    const { note } = only(
      rollingBack,
      status("RolledBack", [stage("Halted")], { kept: { count: 12, first } }),
    );

    assert.match(note, /12 clusters had nothing before and keep it: fleet-default\/c0, .*c4, …$/);
  });

  test("the version, the rollout, the stage and the Gate, under the API group of its object", () => {
    const before = rolloutWith(gated());
    const after = gated(gate("Waiting"));
    const [{ metadata } = { metadata: {} }] = rolloutEvents(aBundle(), before, after);

    assert.deepEqual(metadata, {
      "fleet.cattle.io/revision": "1.4.2",
      "fleet.cattle.io/rollout": "web-7",
      "fleet.cattle.io/stage": "prod",
      "fleet.cattle.io/gate": "web-7-prod-change-board",
      "fleet.cattle.io/token":
        "uid-7/GateWaiting/prod/web-7-prod-change-board/2026-12-01T00:00:00.000Z",
    });
  });

  test("the same when another leader decides it again later, and something else the next time", () => {
    const later = { ...breach, at: "2026-12-01T00:05:00Z" };
    const first = only(progressing, status("Halted", [stage("Halted")], { breach }));
    const again = only(
      progressing,
      status("Halted", [stage("Halted")], { breach: later, since: "2026-12-01T00:05:00Z" }),
    );
    const resumed = { ...progressing, since: "2026-12-01T01:00:00.000Z" };
    const next = only(resumed, status("Halted", [stage("Halted")], { breach }));

    assert.deepEqual(again, first);
    assert.notEqual(
      next.metadata?.["fleet.cattle.io/token"],
      first.metadata?.["fleet.cattle.io/token"],
    );
  });

  test("no more than an event may have", () => {
    const message = "x".repeat(2_000);
    const rejected = gate("Failed", {
      reason: "Decided",
      decision: decision("alice", "Failed", message),
    });

    assert.ok(Buffer.byteLength(only(gated(gate("Waiting")), gated(rejected)).note) <= 1_000);
  });
});
