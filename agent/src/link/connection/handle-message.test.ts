import assert from "node:assert/strict";
import { createSendQueue, type DeploymentKey } from "@flotilla/proto";
import { silentLog } from "@flotilla/shared/log";
import { describe, test } from "vitest";
import { createOutbox } from "../../observe/report/outbox.ts";
import type { Intake } from "../../state/assignment/intake.ts";
import { createMessageHandler } from "./handle-message.ts";
import { createKeyedTasks } from "./keyed-tasks.ts";

const deployment: DeploymentKey = { name: "web", uid: "1" };

function setUp(withdraw: () => Promise<boolean>) {
  const events: string[] = [];
  const intake: Partial<Intake> = {
    states: () => [],
    synced: () => Promise.resolve(void events.push("synced")),
    withdraw: () => withdraw().finally(() => events.push("withdrawn")),
  };
  const tasks = createKeyedTasks({
    limit: 10,
    onFull: () => undefined,
    onRoom: () => undefined,
    onFailed: () => events.push("failed"),
  });
  const handle = createMessageHandler({
    intake: intake as Intake,
    outbox: createOutbox(),
    outgoing: createSendQueue({ send: () => Promise.resolve(), onError: () => undefined }),
    tasks,
    requests: { start: () => undefined, cancel: () => undefined },
    setAuthorities: () => Promise.resolve(),
    log: silentLog(),
  });
  return { handle, tasks, events };
}

describe("Synced", () => {
  test("is passed on once all that the hub has sent before is handled", async () => {
    const stored = Promise.withResolvers<boolean>();
    const { handle, tasks, events } = setUp(() => stored.promise);

    handle({ kind: "withdrawal", deployment });
    handle({ kind: "synced", orphans: [] });
    stored.resolve(true);
    await tasks.idle();

    assert.deepEqual(events, ["withdrawn", "synced"]);
  });

  test("is not passed on if one of the messages before it failed", async () => {
    const { handle, tasks, events } = setUp(() => Promise.reject(new Error("not stored")));

    handle({ kind: "withdrawal", deployment });
    handle({ kind: "synced", orphans: [] });
    await tasks.idle();

    assert.deepEqual(events, ["withdrawn", "failed"]);
  });
});
