import assert from "node:assert/strict";
import type { Change } from "@flotilla/shared/dashboard";
import { describe, test } from "vitest";
import { followChanges, silenceMs } from "./changes.ts";

const settle = () => new Promise((resolve) => setImmediate(resolve));

/** A hub that answers each connection as the test says, and timers that the test fires. */
function setUp(position = "e-1") {
  const log: string[] = [];
  const timers = new Map<number, { readonly run: () => void; readonly delayMs: number }>();
  const connections: {
    readonly path: string;
    send: (text: string) => void;
    end: () => void;
    reject: (status: number) => void;
  }[] = [];
  let lastTimer = 0;
  let nowMs = 0;
  const stop = followChanges(
    position,
    {
      onChanges: (changes: readonly Change[], at) => log.push(`${changes.length} until ${at}`),
      onReset: () => log.push("reset"),
      onConnected: () => log.push("connected"),
      onDisconnected: (sinceMs) => log.push(`disconnected since ${sinceMs}`),
      onUnauthorized: () => log.push("unauthorized"),
    },
    {
      fetch(path, { signal }) {
        return new Promise((resolve, reject) => {
          const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
          const writer = writable.getWriter();
          const answer = new Response(readable);
          signal?.addEventListener("abort", () => {
            writer.abort(new Error("aborted")).catch(() => undefined);
            reject(new Error("aborted"));
          });
          connections.push({
            path,
            send(text) {
              resolve(answer);
              if (text !== "") writer.write(Buffer.from(text)).catch(() => undefined);
            },
            end: () => void writer.close().catch(() => undefined),
            reject: (status) => resolve(new Response("", { status })),
          });
        });
      },
      setTimeout(run, delayMs) {
        lastTimer += 1;
        timers.set(lastTimer, { run, delayMs });
        return lastTimer;
      },
      clearTimeout: (timer) => void timers.delete(timer),
      now: () => nowMs,
    },
  );
  return {
    ...{ log, connections, stop },
    delays: () => [...timers.values()].map(({ delayMs }) => delayMs),
    fire() {
      const [entry] = timers;
      if (entry === undefined) assert.fail("there is no timer");
      timers.delete(entry[0]);
      nowMs += entry[1].delayMs;
      entry[1].run();
    },
  };
}

describe("the page follows the changes", () => {
  test("from its position, in whole messages however they arrive", async () => {
    const { connections, log } = setUp();
    connections[0]?.send("id: e-2\nevent: chan");
    await settle();
    connections[0]?.send('ges\ndata: [{"type":"x"}]\n\n: alive\n\n');
    await settle();

    assert.equal(connections[0]?.path, "/api/v1/changes?after=e-1");
    assert.deepEqual(log, ["connected", "1 until e-2"]);
  });

  test("again from where it was when the connection ends, later each time", async () => {
    const { connections, log, fire, delays } = setUp();
    connections[0]?.send("id: e-7\nevent: changes\ndata: []\n\n");
    await settle();
    connections[0]?.end();
    await settle();

    assert.deepEqual(log.slice(-1), ["disconnected since 0"]);
    assert.deepEqual(delays(), [500]);
    fire();
    const [, second] = connections;
    assert.equal(second?.path, "/api/v1/changes?after=e-7");
    second.reject(503);
    await settle();
    assert.deepEqual(delays(), [1_000]);
  });

  test("again when nothing arrives for 12 s, and says since when", async () => {
    const { connections, log, fire, delays } = setUp();
    connections[0]?.send(": connected\n\n");
    await settle();
    assert.deepEqual(delays(), [silenceMs]);

    fire();
    await settle();

    assert.deepEqual(log, ["connected", "disconnected since 0"]);
  });

  test("until the hub says to read everything again, or that there is no session", async () => {
    const first = setUp();
    first.connections[0]?.send("event: reset\ndata: {}\n\n");
    await settle();
    assert.deepEqual(first.log, ["connected", "reset"]);
    assert.deepEqual(first.delays(), []);

    const second = setUp();
    second.connections[0]?.reject(401);
    await settle();
    assert.deepEqual(second.log, ["unauthorized"]);
    assert.deepEqual(second.delays(), []);
  });

  test("until it is stopped", async () => {
    const { connections, stop, log, delays } = setUp();
    connections[0]?.send(": connected\n\n");
    await settle();
    stop();
    await settle();
    assert.deepEqual(log, ["connected"]);
    assert.deepEqual(delays(), []);
  });
});
