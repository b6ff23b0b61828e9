/** Which approval is meant, and why a decision is not taken. */
import assert from "node:assert/strict";
import type { BundleDeployment } from "@flotilla/shared/api";
import type { GateRecord } from "@flotilla/shared/api/rollout";
import { describe, test } from "vitest";
import { decisionProblem, refusalText } from "./decision-refusal.ts";
import { kubectlCommand } from "./kubectl-command.ts";
import { promotedClusters } from "./rollout-words.ts";
import { aGate, aRollout, aStage } from "./testing/index.ts";
import { chooseApproval } from "./waiting-approval.ts";

const record: GateRecord = {
  name: "change-board",
  when: "Before",
  type: "Approval",
  result: "Waiting",
  gate: "web-7-prod-change-board",
  uid: "g",
  digest: "sha256:d",
  startedAt: "2026-12-01T10:00:00Z",
};
const security = { ...record, name: "security", digest: "sha256:s" };
const passed: GateRecord = {
  ...record,
  result: "Passed",
  decision: { result: "Passed", by: "alice", at: "2026-12-01T11:00:00Z", digest: "sha256:d" },
};
const message = "stage canary: 1 of 2 done";

function withGates(...gates: readonly GateRecord[]) {
  const stages = [aStage({ name: "canary" }), aStage({ name: "prod", gates })];
  return aRollout({ status: { phase: "Waiting", message, stages } });
}

describe("the approval that a command is about", () => {
  test("is the only one that waits, also where the stage and the digest are named", () => {
    const found = { kind: "found", stage: "prod", record };

    for (const choice of [{}, { stage: "prod" }, { digest: "sha256:d" }])
      assert.deepEqual(chooseApproval(withGates(record), choice), found);
  });

  test("is chosen among several by its digest", () => {
    const chosen = chooseApproval(withGates(record, security), { digest: "sha256:s" });

    assert.deepEqual(chosen, { kind: "found", stage: "prod", record: security });
  });

  test.for([
    [
      withGates(record, security),
      {},
      /^2 approvals .* one by its digest: change-board of stage prod has sha256:d, security of/,
    ],
    [
      withGates(record),
      { digest: "sha256:x" },
      /waits for sha256:x, .*: change-board of stage prod has sha256:d$/,
    ],
    [withGates(record), { stage: "prd" }, /has no stage prd: its stages are canary, prod$/],
    [
      withGates(record),
      { stage: "canary" },
      /^no approval of stage canary .* waits: stage canary: 1 of 2 done$/,
    ],
    [
      withGates(passed),
      {},
      /waits: change-board of stage prod was passed by alice at 2026-12-01T11:00:00Z$/,
    ],
    [
      withGates({ ...record, type: "External" }),
      {},
      /^no approval of rollout web-7 .* waits: stage canary/,
    ],
  ] as const)("is refused with what waits instead (%#)", ([rollout, choice, says]) => {
    const chosen = chooseApproval(rollout, choice);

    assert.ok(chosen.kind === "refused");
    assert.match(chosen.says, says);
  });
});

const digest = "sha256:d";
const decision = { result: "Passed", by: "bob", digest } as const;
const before = Date.parse("2026-12-04T09:59:59Z");
const decided = aGate({
  status: { decision: { result: "Failed", by: "zoe", digest, message: "no" }, conditions: [] },
});

test("nothing speaks against a decision about what the Gate is about, before it expires", () => {
  assert.equal(decisionProblem(aGate({}), { digest, nowMs: before }), undefined);
});

test.for([
  [
    decided,
    digest,
    before,
    /was decided already: Failed by zoe, "no"; a decision is never changed$/,
  ],
  [aGate({}), "sha256:x", before, /is about sha256:d, and not about sha256:x/],
  [aGate({}), digest, before + 1_000, /has expired at 2026-12-04T10:00:00Z: resume the rollout/],
  [aGate({ spec: { type: "Soak" } }), digest, before, /which the hub decides by itself$/],
] as const)("what speaks against a decision is known before it is written (%#)", (parts) => {
  const [gate, about, nowMs, says] = parts;

  assert.match(decisionProblem(gate, { digest: about, nowMs }) ?? "", says);
});

const all = { mayDecide: true, mayApprove: true };

test.for([
  [aGate({}), undefined, all, /is gone, .* `flotilla rollout status helmop\/web`$/],
  [
    aGate({}),
    aGate({}),
    { ...all, mayApprove: false },
    /^bob has no right to update gates\/approve in namespace fleet-default: ask for a RoleBinding .* flotilla-rollout-approver$/,
  ],
  [
    aGate({}),
    aGate({}),
    { mayDecide: false, mayApprove: false },
    /^bob may not patch gates\/status in namespace fleet-default/,
  ],
  [aGate({}), decided, all, /was decided already: Failed by zoe/],
  [aGate({}), aGate({}), all, /\): the server's own words$/],
] as const)("a refusal of the API server says what to do (%#)", ([gate, now, rights, says]) => {
  const answer = "the server's own words";

  assert.match(refusalText(decision, { gate, now, rights, answer }), says);
});

test("an external gate needs no right to approve", () => {
  const gate = aGate({ spec: { type: "External" } });
  const rights = { mayDecide: true, mayApprove: false };

  assert.match(refusalText(decision, { gate, now: gate, rights, answer: "full" }), /: full$/);
});

test("kubectl gets a patch as one word, and deletes without one", () => {
  const object = { resource: "gate", namespace: "shop", name: "web-1" };

  assert.equal(
    kubectlCommand({ ...object, patch: { message: "it's" }, subresource: "status" }),
    `kubectl patch gate web-1 --namespace shop --subresource status --type merge --patch '{"message":"it'\\''s"}'`,
  );
  assert.equal(kubectlCommand(object), "kubectl delete gate web-1 --namespace shop");
});

test("clusters get back what they had, and keep what they were installed with", () => {
  const deployment = (from: string, has = "sha256:new", rollout = "web-7"): BundleDeployment => ({
    metadata: { name: "web" },
    spec: {
      deploymentID: has,
      stagedDeploymentID: has,
      promotion: { rollout, at: "2026-12-01T10:00:00Z", from },
    },
  });

  const counts = promotedClusters(
    [
      deployment("sha256:old"),
      deployment("sha256:old"),
      deployment(""),
      deployment("sha256:new", "sha256:old"),
      deployment("sha256:old", "sha256:new", "web-6"),
    ],
    aRollout({}),
  );

  assert.deepEqual(counts, { upgraded: 2, installed: 1 });
});
