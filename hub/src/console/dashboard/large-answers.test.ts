import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { Hono } from "hono";
import { describe, test } from "vitest";
import type { Env } from "./context.ts";
import { createLargeAnswers, type LargeAnswer } from "./large-answers.ts";

/** Answers with the position at which they were made. */
function setUp(freshness: LargeAnswer["freshness"]) {
  const clock = createFakeClock();
  const view = { position: 1 };
  const answerLarge = createLargeAnswers({ view, clock });
  const made: number[] = [];
  const api = new Hono<Env>();
  api.get("/", (context) =>
    answerLarge(context, {
      ...{ key: "a", freshness },
      make() {
        made.push(view.position);
        return { position: view.position };
      },
    }),
  );
  async function read(): Promise<string> {
    const response = await api.request("/");
    assert.equal(response.headers.get("content-encoding"), "gzip");
    return gunzipSync(await response.arrayBuffer()).toString();
  }
  return { clock, view, made, read };
}

describe("a large answer", () => {
  for (const freshness of ["recent", "current"] as const)
    test(`that is ${freshness} is made once for all who request it within a second`, async () => {
      const { clock, made, read } = setUp(freshness);
      assert.deepEqual(await Promise.all([read(), read()]), Array(2).fill('{"position":1}'));
      clock.advanceNow(999);
      await read();
      assert.deepEqual(made, [1]);
      clock.advanceNow(1);
      await read();
      assert.deepEqual(made, [1, 1]);
    });

  test("that is recent may be older than the last change", async () => {
    const { view, read } = setUp("recent");
    await read();
    view.position = 2;
    assert.equal(await read(), '{"position":1}');
  });

  test("that is current has the changes before its request, and is still made once a second", async () => {
    const { clock, view, made, read } = setUp("current");
    await read();
    clock.advanceNow(400);
    view.position = 2;
    const waiting = [read(), read()];
    await clock.timer();
    view.position = 3;
    await clock.advance(600);

    assert.deepEqual(await Promise.all(waiting), Array(2).fill('{"position":3}'));
    assert.deepEqual(made, [1, 3]);
    view.position = 4;
    const later = read();
    await clock.timer();
    await clock.advance(1_000);
    assert.equal(await later, '{"position":4}');
  });
});
