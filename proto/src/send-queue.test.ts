import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { createSendQueue } from "./send-queue.ts";

/** A stream whose reader takes one message whenever the test says so. */
function slowStream() {
  const sent: string[] = [];
  const ready: (() => void)[] = [];
  return {
    sent,
    send: (message: string): Promise<void> => {
      sent.push(message);
      return new Promise((resolve) => void ready.push(resolve));
    },
    takeAll: async (outgoing: { idle(): Promise<void> }) => {
      let isIdle = false;
      const idle = outgoing.idle().then(() => {
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

describe("messages that wait to be sent", () => {
  test("are one for each key, the latest, in the order in which the keys came", async () => {
    const stream = slowStream();
    const outgoing = createSendQueue<string>({ send: stream.send, onError: fail });

    outgoing.put("first", () => "first 1");
    for (let round = 1; round <= 1_000; round += 1) {
      outgoing.put("a", () => `a ${round}`);
      outgoing.put("b", () => `b ${round}`);
      assert.ok(outgoing.size <= 3);
    }
    await stream.takeAll(outgoing);

    assert.deepEqual(stream.sent, ["first 1", "a 1000", "b 1000"]);
  });

  test("are made when it is their turn, and not sent when there is nothing to say by then", async () => {
    const stream = slowStream();
    const outgoing = createSendQueue<string>({ send: stream.send, onError: fail });
    let value: string | undefined = "early";

    outgoing.put("first", () => "first");
    outgoing.put("a", () => value);
    value = undefined;
    await stream.takeAll(outgoing);

    assert.deepEqual(stream.sent, ["first"]);
  });

  test("are sent again when their key comes again while its message is on its way", async () => {
    const stream = slowStream();
    const outgoing = createSendQueue<string>({ send: stream.send, onError: fail });

    outgoing.put("a", () => "a 1");
    await new Promise((resolve) => setImmediate(resolve));
    outgoing.put("a", () => "a 2");
    await stream.takeAll(outgoing);

    assert.deepEqual(stream.sent, ["a 1", "a 2"]);
  });

  test("are dropped once sending failed, which is told once", async () => {
    const broken: unknown[] = [];
    const outgoing = createSendQueue<string>({
      send: () => Promise.reject(new Error("gone")),
      onError: (thrown) => broken.push(thrown),
    });

    outgoing.put("a", () => "a");
    outgoing.put("b", () => "b");
    await outgoing.idle();
    outgoing.put("c", () => "c");

    assert.deepEqual(broken.map(String), ["Error: gone"]);
    assert.equal(outgoing.size, 0);
  });

  test("are dropped when the stream is closed while one is being made", async () => {
    const sent: string[] = [];
    const outgoing = createSendQueue<string>({
      send: (message) => Promise.resolve(void sent.push(message)),
      onError: fail,
    });

    outgoing.put("a", () => Promise.resolve("a"));
    outgoing.close();
    await outgoing.idle();

    assert.deepEqual(sent, []);
  });
});
