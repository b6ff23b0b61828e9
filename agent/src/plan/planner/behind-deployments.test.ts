import assert from "node:assert/strict";
import { createFakeClock, settle } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import { createPlanQueue } from "./behind-deployments.ts";

function setUp() {
  const clock = createFakeClock();
  const queue = createPlanQueue({ clock });
  const ran: string[] = [];
  const ending = new AbortController();
  const start = (name: string): (() => void) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    void queue.deploying(async () => {
      ran.push(name);
      await promise;
    });
    return resolve;
  };
  const plan = (name: string, work: Promise<void> = Promise.resolve()) =>
    queue.planning(async () => {
      ran.push(name);
      await work;
    }, ending.signal);
  return { clock, ran, ending, start, plan };
}

describe("a plan", () => {
  test("begins once nothing is deployed, and delays no deployment", async () => {
    const { ran, start, plan } = setUp();
    const [endFirst, endSecond] = [start("one"), start("two")];
    const planned = plan("plan");
    await settle();
    endFirst();
    await settle();
    start("three")();
    await settle();
    assert.deepEqual(ran, ["one", "two", "three"]);

    endSecond();
    await planned;

    assert.deepEqual(ran, ["one", "two", "three", "plan"]);
  });

  test("begins while something is deployed that takes long", async () => {
    const { clock, ran, start, plan } = setUp();
    start("one");
    const planned = plan("plan");
    await settle();

    await clock.advance(10_000);
    await planned;

    assert.deepEqual(ran, ["one", "plan"]);
  });

  test("waits for the plan before it", async () => {
    const { ran, plan } = setUp();
    const { promise, resolve } = Promise.withResolvers<void>();
    const [first, second] = [plan("first", promise), plan("second")];
    await settle();
    assert.deepEqual(ran, ["first"]);

    resolve();
    await Promise.all([first, second]);

    assert.deepEqual(ran, ["first", "second"]);
  });

  test("that nobody waits for any more does not begin", async () => {
    const { ran, start, plan, ending } = setUp();
    start("one");
    const planned = plan("plan");
    await settle();

    ending.abort(new Error("gone"));

    await assert.rejects(planned, { message: "gone" });
    assert.deepEqual(ran, ["one"]);
  });
});
