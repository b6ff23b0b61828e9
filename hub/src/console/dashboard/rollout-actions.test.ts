import assert from "node:assert/strict";
import type { Breach, BundleRollout } from "@flotilla/shared/api/rollout";
import type { Rollout, RolloutActionName, RolloutGate } from "@flotilla/shared/dashboard";
import { describe, test } from "vitest";
import {
  commandEffect,
  commandPatch,
  commandsOf,
  decisionEffect,
  decisionsOf,
  rightsFor,
  rightText,
  rolloutCommand,
  whyNoRollback,
} from "./rollout-actions.ts";

type Phase = NonNullable<BundleRollout["status"]>["phase"];
type State = BundleRollout["spec"]["state"];

const spec = {
  bundle: { name: "web", uid: "uid-bundle" },
  app: { kind: "HelmOp", name: "web" },
  number: 7,
  revision: "sha256:r",
  targets: [],
  signature: "",
} as const satisfies BundleRollout["spec"];

function rollout(phase: Phase, state?: State): BundleRollout {
  const metadata = { namespace: "shop", name: "web-7", resourceVersion: "12" };
  return { metadata, spec: { ...spec, ...(state && { state }) }, status: { phase } };
}

describe("the commands of a rollout", () => {
  const rows: readonly (readonly [Phase, State, readonly string[]])[] = [
    ["Progressing", undefined, ["halt", "rollback", "cancel"]],
    ["Waiting", "Running", ["halt", "rollback", "cancel"]],
    ["Progressing", "Halted", []],
    ["Progressing", "RolledBack", []],
    ["Waiting", "Cancelled", []],
    ["Halted", "Halted", ["resume", "rollback", "cancel"]],
    ["Halted", undefined, ["resume", "rollback", "cancel"]],
    ["Halted", "Cancelled", []],
    ["RollingBack", "RolledBack", ["halt"]],
    ["RollingBack", undefined, ["halt"]],
    ["RollingBack", "Halted", ["resume"]],
    ["Completed", undefined, ["rollback"]],
    ["Completed", "RolledBack", []],
    ["RolledBack", "RolledBack", []],
    ["Superseded", undefined, []],
    ["Cancelled", "Cancelled", []],
  ];
  test.each(rows)("in phase %s with state %s", (phase, state, expected) => {
    assert.deepEqual(commandsOf(rollout(phase, state)), expected);
  });

  test("write the state, with the resourceVersion of what was decided by", () => {
    const now = "2026-01-01T12:00:00Z";
    const metadata = { resourceVersion: "12" };
    const halted = rollout("Halted");
    const breach: Breach = {
      ...{ stage: "rest", cause: "Failures", action: "Halt", at: now },
      ...{ failed: 2, maxFailures: 1 },
    };
    const failed: BundleRollout = { ...halted, status: { phase: "Halted", breach } };

    assert.deepEqual(commandPatch("halt", rollout("Waiting"), now), {
      metadata,
      spec: { state: "Halted" },
    });
    assert.deepEqual(commandPatch("resume", halted, now), { metadata, spec: { state: "Running" } });
    assert.deepEqual(commandPatch("resume", failed, now), {
      metadata,
      spec: { state: "Running", resume: now },
    });
    assert.deepEqual(commandPatch("rollback", halted, now), {
      metadata,
      spec: { state: "RolledBack" },
    });
    assert.deepEqual(commandPatch("cancel", halted, now), {
      metadata,
      spec: { state: "Cancelled" },
    });
  });

  test("a rollback that no cluster would notice is not allowed", () => {
    assert.match(whyNoRollback("rollback", { back: 0, kept: 3 }) ?? "", /no cluster has got/);
    assert.equal(whyNoRollback("rollback", { back: 1, kept: 0 }), undefined);
    assert.equal(whyNoRollback("halt", { back: 0, kept: 0 }), undefined);
  });

  const counts = { total: 500, done: 88, inFlight: 2, failed: 1, pending: 400, offline: 8 };
  const shown: Omit<Rollout, "actions"> = {
    ...{ name: "web-7", uid: "u", number: 7, message: "", stages: [], phase: "Progressing" },
    ...{ ...counts, paused: 1, skipped: 0, offSchedule: 0 },
    next: { version: "1.4.3", since: "2026-01-01T12:00:00Z" },
  };
  const effects: readonly (readonly [
    Parameters<typeof commandEffect>[0],
    Partial<Rollout>,
    string,
  ])[] = [
    [
      "halt",
      {},
      "Nothing more is promoted until it is resumed: 2 clusters in flight end by themselves, and 409 clusters wait.",
    ],
    [
      "halt",
      { phase: "RollingBack" },
      "No further cluster goes back until it is resumed: 90 clusters would.",
    ],
    [
      "resume",
      { phase: "Halted" },
      "It goes on within the limits of its stages: 409 clusters wait. 1 cluster that failed until now: accepted.",
    ],
    ["resume", { phase: "RollingBack" }, "It goes on: 90 clusters get back what they had."],
    [
      "rollback",
      {},
      "90 clusters get back what they had before, within the limits and without gates. 1 cluster had nothing before: the revision stays.",
    ],
    [
      "cancel",
      {},
      "It ends as it is: 91 clusters keep the revision, and 409 clusters what they have. 1.4.3 starts instead.",
    ],
  ];
  test.each(effects)("%s says in numbers what it does %o", (action, more, expected) => {
    assert.equal(commandEffect(action, { ...shown, ...more }, { back: 90, kept: 1 }), expected);
  });
});

describe("the decisions about a gate", () => {
  const gate: RolloutGate = {
    ...{ name: "board", when: "Before", type: "Approval", result: "Waiting", actions: [] },
    ...{ startedAt: "2026-01-01T12:00:00Z", uid: "uid-gate", version: "1.4.2" },
    clusters: { count: 412, first: [] },
  };
  const { uid: _, ...notCreated } = gate;
  const { startedAt: __, ...notBegun } = gate;
  const rows: readonly (readonly [string, RolloutGate, readonly string[]])[] = [
    ["of an approval are to approve and to reject", gate, ["approve", "reject"]],
    [
      "of an external gate are to pass and to fail",
      { ...gate, type: "External" },
      ["pass", "fail"],
    ],
    ["are none of a soak", { ...gate, type: "Soak" }, []],
    ["are none once it is decided", { ...gate, result: "Passed" }, []],
    ["are none before its Gate is there", notCreated, []],
    ["are none before its turn", notBegun, []],
  ];
  test.each(rows)("%s", (_, each, expected) => {
    assert.deepEqual(decisionsOf(each, "Waiting"), expected);
  });

  test("are offered while its rollout goes on or may go on", () => {
    const offered = (phase: Phase) => decisionsOf(gate, phase).length > 0;
    const phases = ["Progressing", "Waiting", "Halted", "RollingBack", "RolledBack"] as const;
    const ended = ["Completed", "Superseded", "Cancelled"] as const;

    assert.deepEqual(phases.map(offered), [true, true, true, false, false]);
    assert.deepEqual(ended.map(offered), [false, false, false]);
  });

  test("say in numbers what they do", () => {
    assert.equal(
      decisionEffect("approve", "prod", gate),
      "1.4.2 may go to 412 clusters of stage prod, once its other gates have passed.",
    );
    assert.match(decisionEffect("pass", "prod", { ...gate, when: "After" }), /^Stage prod is comp/);
    assert.match(decisionEffect("reject", "prod", gate), /halted, .* 412 clusters do not get 1\.4/);
  });
});

test("each action names the rights that it needs", () => {
  const texts = (action: RolloutActionName) =>
    rightsFor(action).map((right) => rightText(right, "shop"));
  const status = "you may not patch gates/status in namespace shop";
  const approve = "you may not update gates/approve in namespace shop";

  assert.deepEqual(texts("halt"), ["you may not patch bundlerollouts in namespace shop"]);
  assert.deepEqual(texts("approve"), [status, approve]);
  assert.deepEqual(texts("reject"), [status, approve]);
  assert.deepEqual(texts("pass"), [status]);
});

test("each action has a command", () => {
  const of = { app: { kind: "HelmOp", name: "web" }, namespace: "shop" };
  const gate = { stage: "prod", gate: "web-7-prod-board", digest: "sha256:d" };

  assert.equal(rolloutCommand("halt", of), "flotilla rollout halt helmop web -n shop");
  assert.equal(
    rolloutCommand("approve", of, gate),
    "flotilla approve helmop web sha256:d -n shop --stage prod",
  );
  assert.equal(rolloutCommand("fail", of, gate), "flotilla gate fail web-7-prod-board -n shop");
});
