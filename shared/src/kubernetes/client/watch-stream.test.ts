import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "vitest";
import { AppError, commonErrors } from "../../runtime/errors/index.ts";
import type { KubeObject } from "../objects/index.ts";
import type { StreamControl, StreamSink } from "./dispatch.ts";
import type { WatchEvent } from "./rest.ts";
import { watchStream } from "./watch-stream.ts";

interface Wire {
  readonly events: AsyncIterator<WatchEvent<KubeObject>>;
  /** Opens when the first event is read. */
  readonly sink: Promise<StreamSink>;
  readonly calls: readonly string[];
}

function open(signal?: AbortSignal): Wire {
  const { promise: sink, resolve } = Promise.withResolvers<StreamSink>();
  const calls: string[] = [];
  const control: StreamControl = {
    pause: () => calls.push("pause"),
    resume: () => calls.push("resume"),
    abort: () => calls.push("abort"),
  };
  const stream = watchStream<KubeObject>(
    { what: "watch things", server: "https://server" },
    signal,
    (opened) => {
      opened.onStatus(200, undefined);
      resolve(opened);
      return Promise.resolve(control);
    },
  );
  return { events: stream[Symbol.asyncIterator](), sink, calls };
}

function line(name: string): string {
  return `${JSON.stringify({ type: "ADDED", object: { metadata: { name } } })}\n`;
}

async function namesOf(wire: Wire): Promise<readonly string[]> {
  const names: string[] = [];
  for (let next = await wire.events.next(); next.done !== true; next = await wire.events.next()) {
    names.push(
      next.value.type === "BOOKMARK"
        ? `bookmark ${next.value.resourceVersion}`
        : next.value.object.metadata.name,
    );
  }
  return names;
}

describe("a watch stream", () => {
  it("returns the same events for any split of the bytes", async () => {
    const names = fc.array(fc.string({ unit: "grapheme", minLength: 1 }), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(
        names,
        fc.array(fc.nat({ max: 400 }), { maxLength: 8 }),
        async (expected, cuts) => {
          const bytes = Buffer.from(expected.map(line).join(""));
          const wire = open();
          const reading = namesOf(wire);
          const sink = await wire.sink;
          const at = [...new Set(cuts.filter((cut) => cut < bytes.length))].sort((a, b) => a - b);
          for (const [index, from] of [0, ...at].entries())
            sink.onData(bytes.subarray(from, at[index] ?? bytes.length));
          sink.onEnd();

          assert.deepEqual(await reading, expected);
        },
      ),
    );
  });

  it("returns what was received before a failure, then the failure", async () => {
    const wire = open();
    const first = wire.events.next();
    const sink = await wire.sink;
    sink.onData(Buffer.from(line("a") + line("b")));
    sink.onEnd(new AppError(commonErrors.INTERNAL, "broken"));

    assert.equal((await first).done, false);
    assert.equal((await wire.events.next()).done, false);
    await assert.rejects(wire.events.next(), { message: "broken" });
    assert.equal((await wire.events.next()).done, true);
  });

  it("returns bookmarks", async () => {
    const wire = open();
    const reading = namesOf(wire);
    const sink = await wire.sink;
    sink.onData(
      Buffer.from('{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"12"}}}\n'),
    );
    sink.onEnd();

    assert.deepEqual(await reading, ["bookmark 12"]);
  });

  const error = JSON.stringify({
    type: "ERROR",
    object: { kind: "Status", code: 410, reason: "Expired", message: "too old" },
  });
  for (const { name, text, expected } of [
    {
      name: "an ERROR line",
      text: error,
      expected: /^watch things on https:\/\/server: 410 Expired: too old$/,
    },
    {
      name: "a line that is not JSON",
      text: "{",
      expected: /a line of 1 characters that is not JSON/,
    },
    { name: "a line that is not an event", text: "[]", expected: /a line that is not an event/ },
    {
      name: "an unknown type",
      text: '{"type":"NEW","object":{"metadata":{}}}',
      expected: /a line of an unknown type/,
    },
    {
      name: "an event without an object",
      text: '{"type":"ADDED","object":null}',
      expected: /an event without an object/,
    },
  ]) {
    it(`ends with an error at ${name}`, async () => {
      const wire = open();
      const next = wire.events.next();
      const sink = await wire.sink;
      sink.onData(Buffer.from(`${text}\n${line("late")}`));

      await assert.rejects(next, { message: expected });
      assert.deepEqual(wire.calls, ["abort"]);
    });
  }

  it("pauses while its events are not read", async () => {
    const wire = open();
    const first = wire.events.next();
    const sink = await wire.sink;
    await first.then.call(Promise.resolve(), () => undefined);
    for (let count = 0; count < 1500; count++) sink.onData(Buffer.from(line(`n${count}`)));
    await first;

    assert.deepEqual(wire.calls, ["pause"]);
    for (let count = 1; count < 1500; count++) await wire.events.next();
    assert.deepEqual(wire.calls, ["pause", "resume"]);
  });

  it("aborts the connection when the loop is left", async () => {
    const wire = open();
    const first = wire.events.next();
    const sink = await wire.sink;
    sink.onData(Buffer.from(line("a")));
    await first;

    await wire.events.return?.();

    assert.deepEqual(wire.calls, ["abort"]);
    assert.equal((await wire.events.next()).done, true);
  });

  it("ends without an error when its signal aborts", async () => {
    const abort = new AbortController();
    const wire = open(abort.signal);
    const next = wire.events.next();
    const sink = await wire.sink;

    abort.abort();
    sink.onEnd(new AppError(commonErrors.CANCELLED, "cancelled"));

    assert.equal((await next).done, true);
  });
});
