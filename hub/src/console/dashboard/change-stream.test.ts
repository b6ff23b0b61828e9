import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import type { Change } from "@flotilla/shared/dashboard";
import { createFakeClock, settle } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import type { Scope } from "../access/scope.ts";
import { createChangeStreams, maxStreams } from "./change-stream.ts";

const scope = (key: string): Scope => ({ key, sees: () => true });

/** A connection that takes what is written, unless it is slow. */
function connection() {
  const written: string[] = [];
  const response = Object.assign(new EventEmitter(), {
    writableNeedDrain: false,
    isEnded: false,
    writeHead: () => response,
    write(text: string) {
      written.push(text);
      return true;
    },
    end() {
      response.isEnded = true;
      response.emit("close");
    },
  });
  return { written, response: response as typeof response & ServerResponse };
}

function setUp() {
  const clock = createFakeClock();
  const changes: string[] = [];
  const listeners = new Set<() => void>();
  const asked: number[] = [];
  const streams = createChangeStreams({
    view: {
      get position() {
        return changes.length;
      },
      changesSince(position) {
        asked.push(position);
        return changes.slice(position) as unknown as Change[];
      },
      onChange(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    },
    epoch: "e1",
    clock,
  });
  let current: Scope | undefined = scope("all");
  const day = { user: "alice", expiresAtMs: clock.now() + 24 * 3_600_000 };
  function open(after?: string, own = scope("all"), session = day) {
    const viewer = connection();
    const { response } = viewer;
    streams.open({ response, session, after, scope: () => Promise.resolve(current) }, own);
    return viewer;
  }
  return {
    ...{ clock, asked, streams, open, day },
    changed(text: string) {
      changes.push(text);
      for (const listener of listeners) listener();
    },
    setScope: (next: Scope | undefined) => {
      current = next;
    },
  };
}

describe("the stream of changes", () => {
  test("sends the first change at once and the following ones together", () => {
    const { clock, open, changed } = setUp();
    const { written } = open("e1-0");

    changed("a");
    clock.advanceNow(0);
    changed("b");
    changed("c");
    clock.advanceNow(100);
    assert.deepEqual(written.slice(1), ['id: e1-1\nevent: changes\ndata: ["a"]\n\n']);
    clock.advanceNow(200);
    assert.deepEqual(written.slice(2), ['id: e1-3\nevent: changes\ndata: ["b","c"]\n\n']);
  });

  test("makes a message once for all viewers with the same scope and position", () => {
    const { clock, open, changed, asked } = setUp();
    const viewers = [open("e1-0"), open("e1-0"), open("e1-0", scope("other"))];

    changed("a");
    clock.advanceNow(300);

    assert.deepEqual(asked, [0, 0]);
    for (const { written } of viewers) assert.match(written.at(-1) ?? "", /\["a"\]/);
  });

  test("continues from a position, and resets a viewer with a position of another process", () => {
    const { clock, open, changed } = setUp();
    changed("a");
    changed("b");
    const [known, unknown] = [open("e1-1"), open("e9-1")];
    clock.advanceNow(300);

    assert.match(known.written.at(-1) ?? "", /id: e1-2\nevent: changes\ndata: \["b"\]/);
    assert.deepEqual(unknown.written, ["event: reset\ndata: {}\n\n"]);
  });

  test("skips a slow viewer, and sends all changes since when it is fast again", () => {
    const { clock, open, changed } = setUp();
    const { response, written } = open("e1-0");
    response.writableNeedDrain = true;
    changed("a");
    clock.advanceNow(300);
    changed("b");
    clock.advanceNow(300);
    assert.equal(written.length, 1);

    response.writableNeedDrain = false;
    response.emit("drain");
    clock.advanceNow(300);

    assert.deepEqual(written.slice(1), ['id: e1-2\nevent: changes\ndata: ["a","b"]\n\n']);
  });

  test("ends with the session, and resets when the rights have changed", async () => {
    const { clock, open, setScope, streams } = setUp();
    const { written, response } = open("e1-0");

    setScope(scope("less"));
    clock.advanceNow(10_000);
    await settle();
    assert.equal(written.at(-1), "event: reset\ndata: {}\n\n");
    setScope(undefined);
    clock.advanceNow(10_000);
    await settle();

    assert.ok(response.isEnded);
    assert.equal(streams.viewers, 0);
  });

  test("ends when the session expires, and leaves no timer", () => {
    const { clock, open, streams, day } = setUp();
    const { response } = open("e1-0", scope("all"), { ...day, expiresAtMs: clock.now() + 2_500 });

    clock.advanceNow(2_499);
    assert.ok(!response.isEnded);
    clock.advanceNow(1);

    assert.ok(response.isEnded);
    assert.equal(streams.viewers, 0);
    assert.deepEqual(clock.waiting(), []);
  });

  test("is rejected for a user that has too many, until one of them ends", () => {
    const { open, day } = setUp();
    const viewers = Array.from({ length: maxStreams }, () => open("e1-0"));

    assert.throws(() => open("e1-0"), { code: "STREAMS_LIMITED", message: /has 50 open streams/ });
    open("e1-0", scope("all"), { ...day, user: "bob" });
    viewers[0]?.response.emit("close");
    open("e1-0");
  });

  test("sends heartbeats", () => {
    const { clock, open } = setUp();
    const { written } = open("e1-0");
    clock.advanceNow(5_000);
    assert.equal(written.at(-1), ": alive\n\n");
  });
});
