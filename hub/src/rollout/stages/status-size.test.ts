import assert from "node:assert/strict";
import type { BundleRolloutStatus, GateRecord, StageStatus } from "@flotilla/shared/api/rollout";
import { describe, test } from "vitest";
import { fitted, mostStatusBytes } from "./status-size.ts";

const at = "2026-12-01T00:00:00.000Z";
const long = "x".repeat(512);
const digest = `sha256:${"a".repeat(64)}`;

function record(name: string, attempt: number): GateRecord {
  return {
    name,
    when: "Before",
    type: "Approval",
    result: attempt === 1 ? "Failed" : "Passed",
    reason: "Decided",
    gate: `a-rollout-of-an-app-with-a-long-name-1-region-1-${name}-${attempt}`,
    uid: "00000000-0000-0000-0000-000000000000",
    digest,
    startedAt: at,
    decision: { result: "Passed", by: "somebody@example.com", at, digest, message: long },
  };
}

function stage(index: number, gates: number, attempts: number): StageStatus {
  const names = Array.from({ length: gates }, (_, each) => `gate-${each}`);
  return {
    name: `region-${index}`,
    phase: "Completed",
    total: 625,
    done: 615,
    inFlight: 0,
    failed: 10,
    pending: 0,
    offline: 0,
    paused: 0,
    skipped: 0,
    offSchedule: 0,
    brokenBefore: 0,
    gates: names.flatMap((name) =>
      Array.from({ length: attempts }, (_, attempt) => record(name, attempt + 1)),
    ),
    failing: Array.from({ length: 10 }, (_, each) => ({
      cluster: `fleet-default/a-cluster-with-a-long-name-${index}-${each}`,
      message: "y".repeat(300),
      since: at,
    })),
  };
}

function statusWith(gates: number, attempts: number): BundleRolloutStatus {
  const stages = Array.from({ length: 16 }, (_, index) => stage(index, gates, attempts));
  return { phase: "Completed", startedAt: at, stages };
}

const bytes = (status: BundleRolloutStatus) => Buffer.byteLength(JSON.stringify(status));

describe("the status of a rollout", () => {
  test("that is small stays as it is", () => {
    const status = statusWith(1, 1);
    const small = { ...status, stages: status.stages?.slice(0, 2) };

    assert.equal(fitted(small), small);
  });

  for (const [what, gates, attempts] of [
    ["the longest messages", 1, 1],
    ["two gates in each of sixteen stages", 2, 1],
    ["gates that were asked for again", 2, 4],
  ] as const)
    test(`with ${what} is cut until it fits, and says who decided what`, () => {
      const status = statusWith(gates, attempts);
      assert.ok(bytes(status) > mostStatusBytes);
      const cut = fitted(status);

      assert.ok(bytes(cut) <= mostStatusBytes, `${bytes(cut)} bytes`);
      for (const { gates: records = [] } of cut.stages ?? [])
        assert.deepEqual(
          new Set(records.map(({ decision }) => decision?.by)),
          new Set(["somebody@example.com"]),
        );
      assert.deepEqual(
        cut.stages?.map(({ gates: records = [] }) => new Set(records.map(({ name }) => name)).size),
        Array.from({ length: 16 }, () => gates),
      );
    });

  test("that was cut is not cut further", () => {
    const cut = fitted(statusWith(2, 4));

    assert.deepEqual(fitted(cut), cut);
  });
});
