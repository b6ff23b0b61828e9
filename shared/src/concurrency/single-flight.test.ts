import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createSingleFlight } from "./single-flight.ts";

describe("a shared task", () => {
  it("runs once for all who want the same at the same time", async () => {
    const tasks = createSingleFlight<number>();
    let runs = 0;
    const task = () => Promise.resolve(++runs);

    const results = await Promise.all([
      tasks.run("a", task),
      tasks.run("a", task),
      tasks.run("b", task),
    ]);

    assert.deepEqual(results, [1, 1, 2]);
    assert.equal(await tasks.run("a", task), 3);
  });

  it("fails for all, and is tried anew by the next", async () => {
    const tasks = createSingleFlight<number>();
    const fail = () => Promise.reject(new Error("no"));

    const results = await Promise.allSettled([tasks.run("a", fail), tasks.run("a", fail)]);

    assert.deepEqual(
      results.map(({ status }) => status),
      ["rejected", "rejected"],
    );
    assert.equal(await tasks.run("a", () => Promise.resolve(1)), 1);
  });

  it("goes on when one of two has left, and is given up when both have", async () => {
    const tasks = createSingleFlight<number>();
    const [first, second] = [new AbortController(), new AbortController()];
    const given: AbortSignal[] = [];
    const task = (signal: AbortSignal) => {
      given.push(signal);
      return new Promise<number>(() => undefined);
    };
    const waiting = [tasks.run("a", task, first.signal), tasks.run("a", task, second.signal)];
    const settled = Promise.allSettled(waiting);

    first.abort(new Error("first left"));
    await assert.rejects(waiting[0] ?? Promise.resolve(), /first left/);
    assert.equal(given[0]?.aborted, false);
    second.abort(new Error("second left"));
    await settled;

    assert.equal(given[0].aborted, true);
    assert.equal(given.length, 1);
  });

  it("is not begun for somebody who has already left", async () => {
    const tasks = createSingleFlight<number>();

    await assert.rejects(
      tasks.run("a", () => assert.fail("began"), AbortSignal.abort(new Error("gone"))),
      /gone/,
    );
  });
});
