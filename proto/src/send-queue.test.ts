import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { createSendQueue } from "./send-queue.ts";

/** A stream whose reader takes one message on each call of the test. */
function slowStream() {
  const sent: string[] = [];
  const ready: (() => void)[] = [];
  return {
    sent,
    send: (message: string): Promise<void> => {
      sent.push(message);
      return new Promise((resolve) => void ready.push(resolve));
    },
    takeAll: async (queue: { idle(): Promise<void> }) => {
      let isIdle = false;
      const idle = queue.idle().then(() => {
        isIdle = true;
      });
      while (!isIdle) {
        ready.shift()?.();
        await new Promise((resolve) => setImmediate(resolve));
      }
      await idle;
    },
  };
}

const fail = (thrown: unknown): void => assert.fail(String(thrown));

describe("queued messages", () => {
  test("are the latest of each key, in the order of the keys", async () => {
    const stream = slowStream();
    const queue = createSendQueue<string>({ send: stream.send, onError: fail });

    queue.put("first", () => "first 1");
    for (let round = 1; round <= 1_000; round += 1) {
      queue.put("a", () => `a ${round}`);
      queue.put("b", () => `b ${round}`);
      assert.ok(queue.size <= 3);
    }
    await stream.takeAll(queue);

    assert.deepEqual(stream.sent, ["first 1", "a 1000", "b 1000"]);
  });

  test("are built when they are sent, and skipped when there is nothing to send", async () => {
    const stream = slowStream();
    const queue = createSendQueue<string>({ send: stream.send, onError: fail });
    let value: string | undefined = "early";

    queue.put("first", () => "first");
    queue.put("a", () => value);
    value = undefined;
    await stream.takeAll(queue);

    assert.deepEqual(stream.sent, ["first"]);
  });

  test("are sent again when their key is put while a message of it is being sent", async () => {
    const stream = slowStream();
    const queue = createSendQueue<string>({ send: stream.send, onError: fail });

    queue.put("a", () => "a 1");
    await new Promise((resolve) => setImmediate(resolve));
    queue.put("a", () => "a 2");
    await stream.takeAll(queue);

    assert.deepEqual(stream.sent, ["a 1", "a 2"]);
  });

  test("are sent before bulk that was queued earlier", async () => {
    const stream = slowStream();
    const queue = createSendQueue<string>({ send: stream.send, onError: fail });

    queue.putBulk("chunk 1", () => "chunk 1");
    queue.putBulk("chunk 2", () => "chunk 2");
    queue.put("state", () => "state");
    assert.equal(queue.size, 2);
    await stream.takeAll(queue);

    assert.deepEqual(stream.sent, ["chunk 1", "state", "chunk 2"]);
  });

  test("are dropped after a failure, which is reported once", async () => {
    const broken: unknown[] = [];
    const queue = createSendQueue<string>({
      send: () => Promise.reject(new Error("stream closed")),
      onError: (thrown) => broken.push(thrown),
    });

    queue.put("a", () => "a");
    queue.put("b", () => "b");
    await queue.idle();
    queue.put("c", () => "c");

    assert.deepEqual(broken.map(String), ["Error: stream closed"]);
    assert.equal(queue.size, 0);
  });

  test("are dropped when the queue is closed while one is being built", async () => {
    const sent: string[] = [];
    const queue = createSendQueue<string>({
      send: (message) => Promise.resolve(void sent.push(message)),
      onError: fail,
    });

    queue.put("a", () => Promise.resolve("a"));
    queue.close();
    await queue.idle();

    assert.deepEqual(sent, []);
  });
});
