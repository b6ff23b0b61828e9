import assert from "node:assert/strict";
import { setImmediate as settle } from "node:timers/promises";
import { describe, test } from "vitest";
import { createKeyedTasks } from "./keyed-tasks.ts";

describe("tasks by key", () => {
  test("run in order for one key, and concurrently for different keys", async () => {
    const said: string[] = [];
    const gates = new Map<string, () => void>();
    const gate = (name: string) => new Promise<void>((open) => void gates.set(name, open));
    const tasks = createKeyedTasks({
      limit: 10,
      onFull: () => said.push("full"),
      onRoom: () => said.push("room"),
      onFailed: (thrown) => assert.fail(String(thrown)),
    });

    tasks.add("a", () => gate("a").then(() => void said.push("a 1")));
    tasks.add("a", () => Promise.resolve(void said.push("a 2")));
    tasks.add("b", () => Promise.resolve(void said.push("b")));
    await settle();
    assert.deepEqual(said, ["b"]);
    gates.get("a")?.();
    await tasks.idle();

    assert.deepEqual(said, ["b", "a 1", "a 2"]);
  });

  test("report the limit, and a failure, after which the key continues", async () => {
    const said: string[] = [];
    const tasks = createKeyedTasks({
      limit: 2,
      onFull: () => said.push("full"),
      onRoom: () => said.push("room"),
      onFailed: (thrown) => said.push(String(thrown)),
    });

    tasks.add("a", () => Promise.reject(new Error("no")));
    tasks.add("a", () => Promise.resolve(void said.push("next")));
    await tasks.idle();

    assert.deepEqual(said, ["full", "Error: no", "room", "next"]);
  });
});
