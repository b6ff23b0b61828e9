import assert from "node:assert/strict";
import { settle } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import { createCallLimit, createEnrolmentLimit } from "./call-limits.ts";

function setUp() {
  const limit = createEnrolmentLimit({
    concurrent: 3,
    concurrentPerPeer: 2,
    total: 6,
    totalPerPeer: 4,
  });
  const admitted: string[] = [];
  const rejected: string[] = [];
  const release = new Map<string, () => void>();
  const admit = async (caller: string): Promise<void> => {
    const done = await limit.acquire(caller.slice(0, 1));
    if (done === undefined) {
      rejected.push(caller);
      return;
    }
    admitted.push(caller);
    release.set(caller, done);
  };
  return {
    admitted,
    rejected,
    release,
    call(...callers: readonly string[]) {
      for (const caller of callers) void admit(caller);
    },
  };
}

describe("admission of unauthenticated calls", () => {
  test("admits calls up to the limit, and fewer from one peer", async () => {
    const { admitted, call } = setUp();

    call("a1", "a2", "a3", "b1", "c1");
    await settle();

    assert.deepEqual(admitted, ["a1", "a2", "b1"]);
  });

  test("admits waiting calls in order when others are released", async () => {
    const { admitted, release, call } = setUp();
    call("a1", "a2", "a3", "b1", "c1");
    await settle();

    release.get("b1")?.();
    await settle();
    assert.deepEqual(admitted.slice(3), ["c1"]);
    release.get("a1")?.();
    await settle();

    assert.deepEqual(admitted.slice(4), ["a3"]);
  });

  test("rejects calls when too many wait, from one peer or in total, until some are released", async () => {
    const { admitted, rejected, release, call } = setUp();

    call("a1", "a2", "a3", "a4", "a5", "b1", "c1", "d1");
    await settle();
    assert.deepEqual(rejected, ["a5", "d1"]);
    release.get("a1")?.();
    call("a6");
    await settle();

    assert.deepEqual(rejected, ["a5", "d1"]);
    for (const caller of ["a2", "b1", "a3", "c1", "a4", "a6"]) {
      release.get(caller)?.();
      await settle();
    }
    assert.deepEqual(admitted.toSorted(), ["a1", "a2", "a3", "a4", "a6", "b1", "c1"]);
  });

  test("releases a call once, however often its release is called", async () => {
    const { admitted, release, call } = setUp();
    call("a1", "b1", "c1", "d1", "e1");
    await settle();

    release.get("a1")?.();
    release.get("a1")?.();
    await settle();

    assert.deepEqual(admitted, ["a1", "b1", "c1", "d1"]);
  });
});

test("limits the calls of each agent separately", () => {
  const calls = createCallLimit(2);
  const first = calls.acquire("paris");
  assert.ok(first !== undefined && calls.acquire("paris") !== undefined);

  assert.equal(calls.acquire("paris"), undefined);
  assert.ok(calls.acquire("rome") !== undefined);
  first();
  first();

  assert.ok(calls.acquire("paris") !== undefined);
  assert.equal(calls.acquire("paris"), undefined);
});
