import assert from "node:assert/strict";
import type { BundleRollout, StageStatus } from "@flotilla/shared/api/rollout";
import { test } from "vitest";
import { aGate, aRollout, aStage } from "../rollout/testing/index.ts";
import { splitDigest } from "./gate.ts";
import { gateDescription, gatesTable } from "./gate-table.ts";
import { newestOfEach, parseSkip } from "./rollout.ts";
import { rolloutHistory, rolloutsTable, rolloutText } from "./rollout-table.ts";

const message = "waits for the approval change-board of stage prod";
const since = "2026-12-01T09:13:00Z";
const nowMs = Date.parse("2026-12-01T10:18:00Z");
const digest = "sha256:d";
const names = Array.from({ length: 12 }, (_, index) => `fleet-default/c${index}`);
const canary: StageStatus = aStage({
  name: "canary",
  phase: "Completed",
  total: 88,
  done: 86,
  failed: 1,
  offline: 1,
  startedAt: "2026-12-01T08:00:00Z",
  completedAt: "2026-12-01T09:00:00Z",
  failing: [{ cluster: "fleet-default/ams", message: "timed\nout \u001b[31m", since }],
});
const prod: StageStatus = aStage({
  name: "prod",
  phase: "Gated",
  total: 412,
  pending: 412,
  startedAt: since,
  gates: [
    {
      name: "change-board",
      when: "Before",
      type: "Approval",
      result: "Waiting",
      gate: "web-7-prod-change-board",
      digest,
      startedAt: since,
      expiresAt: "2026-12-04T10:00:00Z",
    },
  ],
});
const rollout: BundleRollout = aRollout({
  spec: { skip: names },
  status: {
    phase: "Waiting",
    reason: "GateWaiting",
    message,
    since,
    stage: "prod",
    clusters: { ...aStage({ total: 500, done: 86 }) },
    stages: [canary, prod],
    unassigned: { count: 12, first: names.slice(0, 10) },
  },
});

test("the newest rollout of each app has a line, with the sentence of its status", () => {
  assert.equal(
    rolloutsTable([rollout], { hasNamespaces: false }),
    `APP          ROLLOUT   VERSION   PHASE     STAGE   DONE     SINCE                  MESSAGE
helmop/web   web-7     1.4.2     Waiting   prod    86/500   ${since}   ${message}
`,
  );
});

test("a rollout has its age, a line for each stage, and at most ten names", () => {
  const text = rolloutText(rollout, nowMs);

  assert.match(text, /^since {8}2026-12-01T09:13:00Z \(1h5m\)$/m);
  assert.ok(text.includes(`message      ${message}\n`));
  assert.match(text, /^in no stage {2}12: fleet-default\/c0, .*\/c9 and 2 more$/m);
  assert.match(text, /^skipped {6}12: fleet-default\/c0, .*\/c9 and 2 more$/m);
  assert.match(text, /^canary +Completed +86\/88 +0 +1 +0 +1 offline +2026-12-01T09:00:00Z$/m);
  assert.match(
    text,
    /^prod +Gated +0\/412 +0 +0 +412 +\S+ +change-board Waiting until 2026-12-04T10:00:00Z$/m,
  );
  assert.match(text, /^canary +fleet-default\/ams +\S+ +timed out \ufffd\[31m$/m);
});

test("the history has the rollouts, the newest first, and who decided what", () => {
  const decision = {
    result: "Failed",
    by: "ci",
    at: since,
    digest,
    message: "p99 900 ms",
  } as const;
  const gates = (prod.gates ?? []).map((gate) => ({
    ...gate,
    result: "Failed" as const,
    decision,
  }));
  const decided = aRollout({
    name: "web-6",
    spec: { number: 6, version: "1.4.1" },
    status: { phase: "Halted", startedAt: since, stages: [{ ...prod, gates }] },
  });

  const text = rolloutHistory([decided, rollout]);

  assert.match(text, /^web-7 .*\nweb-6 +1\.4\.1 +Halted/m);
  assert.match(text, /^web-6 +prod +change-board +Approval +Failed +ci +\S+ +p99 900 ms$/m);
});

test("of several rollouts of one app the newest is listed", () => {
  const older = aRollout({ name: "web-6", spec: { number: 6 } });

  assert.deepEqual(newestOfEach([rollout, older]), [rollout]);
});

test("a Gate shows what it is about, and how it was decided", () => {
  const decision = { result: "Passed", by: "alice", digest, message: "CHG-1" } as const;
  const waiting = aGate({ spec: { config: { url: "https://shop.example.com" } } });
  const stored = aGate({
    status: {
      decision,
      conditions: [{ type: "Passed", status: "True", reason: "Approved" }],
    },
  });

  assert.equal(
    gateDescription(waiting),
    `gate       fleet-default/web-7-prod-change-board
type       Approval
rollout    web-7 of HelmOp web
version    1.4.2
stage      prod, before it: change-board
clusters   412: fleet-default/ams, fleet-default/ber and 410 more
config     url: https://shop.example.com
expires    2026-12-04T10:00:00Z
digest     sha256:d
result     Waiting
`,
  );
  assert.match(
    gateDescription(aGate({ status: { decision } })),
    /^result +Passed, not stored yet$/m,
  );
  assert.match(gateDescription(stored), /^result +Approved\ndecided by alice\nmessage +CHG-1\n$/m);
  assert.match(
    gatesTable([stored], { hasNamespaces: true }),
    /^fleet-default +web-7-prod-change-board +helmop\/web +prod +Before +Approval +Approved +alice +412 /m,
  );
});

test("the last word of an approval may be a digest", () => {
  assert.deepEqual(splitDigest(["helmop", "web", digest]), { target: ["helmop", "web"], digest });
  assert.deepEqual(splitDigest(["web"]), { target: ["web"], digest: undefined });
});

test.for([
  [["lab-3", "web"], "fleet-default/lab-3", ["web"]],
  [["cluster/lab-3", "helmop", "web"], "fleet-default/lab-3", ["helmop", "web"]],
  [["fleet-local/local", "helmop/web"], "fleet-local/local", ["helmop/web"]],
] as const)("%j skips a cluster", ([words, cluster, target]) => {
  const skipped = parseSkip(words, { namespace: "fleet-default" });

  assert.deepEqual(skipped, { change: { kind: "skip-cluster", cluster }, target });
});

test("with a stage all words are the app, and a cluster alone is not enough", () => {
  assert.deepEqual(parseSkip(["helmop", "web"], { namespace: "fleet-default", stage: "prod" }), {
    change: { kind: "skip-stage", stage: "prod" },
    target: ["helmop", "web"],
  });
  assert.throws(() => parseSkip(["lab-3"], { namespace: "fleet-default" }), {
    code: "TARGET_INVALID",
  });
});
