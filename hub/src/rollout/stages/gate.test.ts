/** [3.4] Records of gates: their names, and which decisions count. */
import assert from "node:assert/strict";
import type { StageGate } from "@flotilla/shared/api";
import { describe, test } from "vitest";
import { type FoundDecision, type GateFacts, judgeGate, startGate } from "./gate.ts";
import { openingOf } from "./stage-windows.ts";

const board: StageGate = { name: "board", approval: {}, timeout: "2h" };
const subject = { rollout: "web-7", revision: "sha256:a", stage: "prod", when: "Before" } as const;
const startMs = Date.parse("2026-12-01T00:00:00Z");
const hourMs = 3_600_000;
const record = {
  ...startGate(board, subject, { nowMs: startMs, earlier: 0 }),
  uid: "uid-gate",
};
const passed: FoundDecision = {
  ...{ result: "Passed", by: "alice", verified: true },
  digest: record.digest,
};

const windowOf = () => ({ isOpen: true, changesAtMs: undefined });

function judged(nowMs: number, decision: FoundDecision | undefined) {
  const facts: GateFacts = {
    nowMs,
    isSettled: false,
    tests: "running",
    isRolledOut: () => false,
    awaitedProblem: () => undefined,
    decisionOf: () => decision,
    acceptsUnverified: false,
    windowOf,
    openingOf: (windows, atMs) => openingOf(windows, windowOf, atMs),
  };
  const { result, reason, decision: stored } = judgeGate(board, record, facts);
  return { result, reason, message: stored?.message };
}

describe("[3.4] a decision", () => {
  test("counts until the deadline", () => {
    assert.deepEqual(judged(startMs + 2 * hourMs - 1, passed), {
      ...{ result: "Passed", reason: "Decided", message: undefined },
    });
  });

  test.each([
    ["at", 0],
    ["after", 1],
  ] as const)("does not count %s the deadline", (_, lateMs) => {
    assert.deepEqual(judged(startMs + 2 * hourMs + lateMs, passed), {
      ...{ result: "Failed", reason: "Expired", message: "no decision within 2h" },
    });
  });

  test("does not count with another digest than the record's", () => {
    const other = { ...passed, digest: "sha256:other" };

    assert.equal(judged(startMs, other).result, "Waiting");
  });
});

describe("[3.4] the name of a Gate", () => {
  const nameOf = (rollout: string, stage: string, gate = "board", earlier = 0) =>
    startGate({ ...board, name: gate }, { ...subject, rollout, stage }, { nowMs: 0, earlier }).gate;

  test("has the rollout, the stage, the gate, and its number when it is made again", () => {
    assert.equal(nameOf("web-7", "prod"), "web-7-prod-board");
    assert.equal(nameOf("web-7", "prod", "board", 1), "web-7-prod-board-2");
  });

  test("is not changed up to 63 characters, and ends with a hash beyond", () => {
    const longest = "s".repeat(63 - "web-7--board".length);

    assert.equal(nameOf("web-7", longest), `web-7-${longest}-board`);
    const hashed = nameOf("web-7", `${longest}s`);
    assert.equal(hashed.length, 63);
    assert.match(hashed, /^web-7-s+-[0-9a-f]{8}$/);
  });

  test("is another one for each gate, though they begin with the same 63 characters", () => {
    const stage = "s".repeat(60);
    const names = [
      nameOf("web-7", stage, "a"),
      nameOf("web-7", stage, "b"),
      nameOf("web-7", stage, "b", 1),
    ];

    assert.equal(new Set(names).size, 3);
  });

  test("can be the name of an object where it is cut at a separator", () => {
    assert.match(
      nameOf("web-7", `${"s".repeat(47)}---${"t".repeat(20)}`),
      /^[a-z0-9-]*s-[0-9a-f]{8}$/,
    );
  });
});
