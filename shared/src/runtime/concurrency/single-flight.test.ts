import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { createSingleFlight } from "./single-flight.ts";

describe("a single flight", () => {
  it("runs once for all callers of one key", async () => {
    const flights = createSingleFlight<number>();
    let runs = 0;
    const task = () => Promise.resolve(++runs);

    const results = await Promise.all([
      flights.run("a", task),
      flights.run("a", task),
      flights.run("b", task),
    ]);

    assert.deepEqual(results, [1, 1, 2]);
    assert.equal(await flights.run("a", task), 3);
  });

  it("fails for all its callers, and runs again for the next", async () => {
    const flights = createSingleFlight<number>();
    const fail = () => Promise.reject(new Error("no"));

    const results = await Promise.allSettled([flights.run("a", fail), flights.run("a", fail)]);

    assert.deepEqual(
      results.map(({ status }) => status),
      ["rejected", "rejected"],
    );
    assert.equal(await flights.run("a", () => Promise.resolve(1)), 1);
  });

  it("continues when one of two callers aborts, and is aborted when both do", async () => {
    const flights = createSingleFlight<number>();
    const [first, second] = [new AbortController(), new AbortController()];
    const given: AbortSignal[] = [];
    const task = (signal: AbortSignal) => {
      given.push(signal);
      return new Promise<number>(() => undefined);
    };
    const waiting = [flights.run("a", task, first.signal), flights.run("a", task, second.signal)];
    const settled = Promise.allSettled(waiting);

    first.abort(new Error("first left"));
    await assert.rejects(waiting[0] ?? Promise.resolve(), /first left/);
    assert.equal(given[0]?.aborted, false);
    second.abort(new Error("second left"));
    await settled;

    assert.equal(given[0].aborted, true);
    assert.equal(given.length, 1);
  });

  it("does not start for a caller whose signal has aborted", async () => {
    const flights = createSingleFlight<number>();

    await assert.rejects(
      flights.run("a", () => assert.fail("began"), AbortSignal.abort(new Error("caller aborted"))),
      /caller aborted/,
    );
  });
});
