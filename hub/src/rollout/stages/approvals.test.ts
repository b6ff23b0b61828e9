/** Which records of gates approve what a stage gives to protected clusters. */
import assert from "node:assert/strict";
import type { RolloutStage } from "@flotilla/shared/api";
import type { GateRecord } from "@flotilla/shared/api/rollout";
import { describe, test } from "vitest";
import { isStageApproved, selectionOf } from "./approvals.ts";
import { gateDigest } from "./gate.ts";

const prod = { clusterSelector: { matchLabels: { env: "prod" } } };
const stages: readonly RolloutStage[] = [
  { name: "dev", clusterName: "ams" },
  { name: "prod", ...prod },
];
const revision = "sha256:a";
const subject = { revision, stage: "prod", when: "Before" } as const;

const passed: GateRecord = {
  name: "board",
  when: "Before",
  type: "Approval",
  result: "Passed",
  gate: "web-2-prod-board",
  digest: gateDigest({ ...subject, selection: selectionOf(stages, "prod") }, "board"),
  startedAt: "2026-12-01T00:00:00Z",
};

const none = { total: 0, done: 0, inFlight: 0, failed: 0, pending: 0, offline: 0 };
const counts = { ...none, paused: 0, skipped: 0, offSchedule: 0, brokenBefore: 0 };

function isApproved(
  record: GateRecord,
  {
    now = stages,
    stage = "prod",
    of = revision,
  }: { now?: readonly RolloutStage[]; stage?: string | undefined; of?: string } = {},
): boolean {
  const stored = {
    phase: "Waiting",
    stages: [{ ...counts, name: "prod", phase: "Gated", gates: [record] }],
  } as const;
  return isStageApproved(now, stage, { revision: of, stored });
}

describe("a stage is approved", () => {
  test("by an approval before it that has passed, whatever else is changed in the strategy", () => {
    const limited = stages.map((stage) => ({ ...stage, maxUnavailable: 1, after: [] }));

    assert.ok(isApproved(passed));
    assert.ok(isApproved(passed, { now: limited }));
    assert.ok(isApproved(passed, { now: [...stages, { name: "rest" }] }));
  });
});

describe("a stage is not approved", () => {
  const rows: readonly (readonly [what: string, record: Partial<GateRecord>])[] = [
    ["by one that waits", { result: "Waiting" }],
    ["by one that was rejected", { result: "Failed" }],
    ["by one after it", { when: "After" }],
    ["by a gate of another type", { type: "External" }],
    ["by one about something else", { digest: "sha256:other" }],
  ];
  test.each(rows)("%s", (_, fields) => {
    assert.equal(isApproved({ ...passed, ...fields }), false);
  });

  const changes: readonly (readonly [what: string, now: readonly RolloutStage[]])[] = [
    ["its own selector", [{ name: "dev", clusterName: "ams" }, { name: "prod" }]],
    [
      "how many it takes",
      [
        { name: "dev", clusterName: "ams" },
        { name: "prod", ...prod, upTo: 1 },
      ],
    ],
    [
      "the selector of a stage before it",
      [
        { name: "dev", clusterName: "ber" },
        { name: "prod", ...prod },
      ],
    ],
    [
      "the order",
      [
        { name: "prod", ...prod },
        { name: "dev", clusterName: "ams" },
      ],
    ],
  ];
  test.each(changes)("when it has passed before this was changed: %s", (_, now) => {
    assert.equal(isApproved(passed, { now }), false);
  });

  test("for another revision, in another stage, or in none", () => {
    assert.equal(isApproved(passed, { of: "sha256:b" }), false);
    assert.equal(isApproved(passed, { stage: "dev" }), false);
    const nothing = { revision, stored: undefined };
    assert.equal(isStageApproved(stages, undefined, nothing), false);
    assert.equal(isStageApproved(stages, "prod", nothing), false);
  });
});
