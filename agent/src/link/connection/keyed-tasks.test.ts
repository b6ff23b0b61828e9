import assert from "node:assert/strict";
import { setImmediate as settle } from "node:timers/promises";
import { describe, test } from "vitest";
import { createKeyedTasks } from "./keyed-tasks.ts";

describe("tasks by key", () => {
  test("run in order for the same key, and concurrently for different keys", async () => {
    const events: string[] = [];
    const gates = new Map<string, () => void>();
    const gate = (name: string) => new Promise<void>((open) => void gates.set(name, open));
    const tasks = createKeyedTasks({
      limit: 10,
      onFull: () => events.push("full"),
      onRoom: () => events.push("room"),
      onFailed: (thrown) => assert.fail(String(thrown)),
    });

    tasks.add("a", () => gate("a").then(() => void events.push("a 1")));
    tasks.add("a", () => Promise.resolve(void events.push("a 2")));
    tasks.add("b", () => Promise.resolve(void events.push("b")));
    await settle();
    assert.deepEqual(events, ["b"]);
    gates.get("a")?.();
    assert.equal(await tasks.idle(), true);

    assert.deepEqual(events, ["b", "a 1", "a 2"]);
  });

  test("report the limit and a failed task, and continue with the next task of the key", async () => {
    const events: string[] = [];
    const tasks = createKeyedTasks({
      limit: 2,
      onFull: () => events.push("full"),
      onRoom: () => events.push("room"),
      onFailed: (thrown) => events.push(String(thrown)),
    });

    tasks.add("a", () => Promise.reject(new Error("no")));
    tasks.add("a", () => Promise.resolve(void events.push("next")));
    assert.equal(await tasks.idle(), false);

    assert.deepEqual(events, ["full", "Error: no", "room", "next"]);
  });
});
