import assert from "node:assert/strict";
import { settle } from "@flotilla/shared/time/testing/fake-clock.ts";
import { describe, test } from "vitest";
import { createDoorway } from "./doorway.ts";

function setUp() {
  const doorway = createDoorway({ atATime: 3, ofOneSender: 2, most: 6, mostOfOneSender: 4 });
  const inside: string[] = [];
  const refused: string[] = [];
  const leave = new Map<string, () => void>();
  const comes = async (caller: string): Promise<void> => {
    const done = await doorway.enter(caller.slice(0, 1));
    if (done === undefined) {
      refused.push(caller);
      return;
    }
    inside.push(caller);
    leave.set(caller, done);
  };
  return {
    inside,
    refused,
    leave,
    comes(...callers: readonly string[]) {
      for (const caller of callers) void comes(caller);
    },
  };
}

describe("callers that nobody knows", () => {
  test("come in so many at a time, and of one sender fewer", async () => {
    const { inside, comes } = setUp();

    comes("a1", "a2", "a3", "b1", "c1");
    await settle();

    assert.deepEqual(inside, ["a1", "a2", "b1"]);
  });

  test("come in when others have left, in the order in which they came", async () => {
    const { inside, leave, comes } = setUp();
    comes("a1", "a2", "a3", "b1", "c1");
    await settle();

    leave.get("b1")?.();
    await settle();
    assert.deepEqual(inside.slice(3), ["c1"]);
    leave.get("a1")?.();
    await settle();

    assert.deepEqual(inside.slice(4), ["a3"]);
  });

  test("are sent away where too many wait, of one sender or in all, until some have left", async () => {
    const { inside, refused, leave, comes } = setUp();

    comes("a1", "a2", "a3", "a4", "a5", "b1", "c1", "d1");
    await settle();
    assert.deepEqual(refused, ["a5", "d1"]);
    leave.get("a1")?.();
    comes("a6");
    await settle();

    assert.deepEqual(refused, ["a5", "d1"]);
    for (const caller of ["a2", "b1", "a3", "c1", "a4", "a6"]) {
      leave.get(caller)?.();
      await settle();
    }
    assert.deepEqual(inside.toSorted(), ["a1", "a2", "a3", "a4", "a6", "b1", "c1"]);
  });

  test("make room once, however often they leave", async () => {
    const { inside, leave, comes } = setUp();
    comes("a1", "b1", "c1", "d1", "e1");
    await settle();

    leave.get("a1")?.();
    leave.get("a1")?.();
    await settle();

    assert.deepEqual(inside, ["a1", "b1", "c1", "d1"]);
  });
});
