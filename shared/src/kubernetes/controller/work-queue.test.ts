import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "vitest";
import { createFakeClock, settle } from "../../runtime/time/testing/index.ts";
import { createWorkQueue } from "./work-queue.ts";

function setUp() {
  const clock = createFakeClock();
  return { clock, queue: createWorkQueue({ clock }) };
}

describe("a work queue", () => {
  it("returns keys in the order in which they were added", async () => {
    const { queue } = setUp();
    for (const key of ["b", "a", "c"]) queue.add(key);

    assert.deepEqual([await queue.get(), await queue.get(), await queue.get()], ["b", "a", "c"]);
  });

  it("queues a key once", async () => {
    const { queue } = setUp();
    for (const key of ["a", "b", "a", "a"]) queue.add(key);

    assert.equal(queue.length, 2);
    assert.deepEqual([await queue.get(), await queue.get()], ["a", "b"]);
    assert.equal(queue.length, 0);
  });

  it("gives a key to an idle worker", async () => {
    const { queue } = setUp();
    const first = queue.get();
    const second = queue.get();

    queue.add("a");
    queue.add("b");

    assert.deepEqual([await first, await second], ["a", "b"]);
  });

  it("does not give a key to two workers, and gives it again when it was added meanwhile", async () => {
    const { queue } = setUp();
    queue.add("a");
    await queue.get();

    queue.add("a");
    queue.add("a");
    assert.equal(queue.length, 0);
    queue.done("a");

    assert.equal(queue.length, 1);
    assert.equal(await queue.get(), "a");
    queue.done("a");
    assert.equal(queue.length, 0);
  });

  it("returns keys with low priority last", async () => {
    const { queue } = setUp();
    queue.add("low-1", "low");
    queue.add("low-2", "low");
    queue.add("normal");
    queue.add("low-2");

    const order = [await queue.get(), await queue.get(), await queue.get()];

    assert.deepEqual(order, ["normal", "low-2", "low-1"]);
  });

  it("keeps the higher priority of a key that is added while it is processed", async () => {
    const { queue } = setUp();
    queue.add("a");
    await queue.get();
    queue.add("b");
    queue.add("a", "low");
    queue.add("a");
    queue.add("c", "low");
    queue.done("a");

    assert.deepEqual([await queue.get(), await queue.get(), await queue.get()], ["b", "a", "c"]);
  });

  it("adds a key after the earliest of its delays, with one timer", () => {
    const { clock, queue } = setUp();
    queue.addAfter("a", 1000);
    queue.addAfter("a", 300);
    queue.addAfter("a", 2000);
    queue.addAfter("b", 500);

    assert.deepEqual(clock.waiting(), [300]);
    clock.advanceNow(299);
    assert.equal(queue.length, 0);
    clock.advanceNow(1);
    assert.equal(queue.length, 1);
    clock.advanceNow(200);
    assert.equal(queue.length, 2);
    clock.advanceNow(10_000);
    assert.equal(queue.length, 2);
    assert.deepEqual(clock.waiting(), []);
  });

  it("adds a key at once after a delay of zero", () => {
    const { queue } = setUp();
    queue.addAfter("a", 0);

    assert.equal(queue.length, 1);
  });

  it("doubles the delay with each failure of a key, up to 5 min, until it is forgotten", () => {
    const { queue } = setUp();

    const delays = Array.from({ length: 18 }, () => queue.addRateLimited("a"));

    assert.deepEqual(delays.slice(0, 4), [5, 10, 20, 40]);
    assert.equal(delays[15], 163_840);
    assert.deepEqual(delays.slice(16), [300_000, 300_000]);
    assert.equal(queue.retries("a"), 18);
    assert.equal(queue.addRateLimited("b"), 5);
    queue.forget("a");
    assert.equal(queue.retries("a"), 0);
    assert.equal(queue.addRateLimited("a"), 5);
  });

  it("retries no more than 100 keys at once and 10 a second after that", () => {
    const { clock, queue } = setUp();

    const delays = Array.from({ length: 103 }, (_, index) => queue.addRateLimited(`key-${index}`));
    clock.advanceNow(1000);
    const later = queue.addRateLimited("later");

    assert.ok(delays.slice(0, 100).every((delay) => delay === 5));
    assert.deepEqual(delays.slice(100), [100, 200, 300]);
    assert.equal(later, 5);
  });

  it("returns what is queued after shutdown, and accepts nothing more", async () => {
    const { clock, queue } = setUp();
    queue.add("a");
    queue.addAfter("b", 100);
    queue.shutdown();
    queue.add("c");
    queue.addRateLimited("d");
    clock.advanceNow(60_000);

    assert.deepEqual([await queue.get(), await queue.get()], ["a", undefined]);
    assert.deepEqual(clock.waiting(), []);
  });

  it("ends the wait of idle workers when it is shut down", async () => {
    const { queue } = setUp();
    const idle = [queue.get(), queue.get()];
    queue.shutdown();

    assert.deepEqual(await Promise.all(idle), [undefined, undefined]);
  });

  it("has the metrics of client-go", async () => {
    const clock = createFakeClock();
    const recorded: string[] = [];
    const queue = createWorkQueue({
      clock,
      metrics: {
        added: () => recorded.push("added"),
        retried: () => recorded.push("retried"),
        depth: (count) => recorded.push(`depth ${count}`),
        started: (waitedMs) => recorded.push(`started after ${waitedMs}`),
        finished: (workedMs) => recorded.push(`finished after ${workedMs}`),
      },
    });

    queue.add("a");
    queue.add("a");
    clock.advanceNow(70);
    await queue.get();
    clock.advanceNow(30);
    queue.done("a");
    queue.addRateLimited("a");
    clock.advanceNow(5);

    assert.deepEqual(recorded, [
      "added",
      "depth 1",
      "started after 70",
      "depth 0",
      "finished after 30",
      "retried",
      "added",
      "depth 1",
    ]);
  });
});

type Step =
  | { readonly kind: "add" | "addLow" | "done"; readonly key: string }
  | { readonly kind: "addAfter"; readonly key: string; readonly delayMs: number }
  | { readonly kind: "get" }
  | { readonly kind: "advance"; readonly ms: number };

/** A reference implementation of the same queue. */
class Model {
  readonly waiting = new Set<string>();
  readonly processing = new Set<string>();
  readonly dirty = new Set<string>();
  readonly delayed = new Map<string, number>();
  now = 0;

  add(key: string): void {
    if (this.processing.has(key)) this.dirty.add(key);
    else this.waiting.add(key);
  }

  addAfter(key: string, delayMs: number): void {
    if (delayMs === 0) this.add(key);
    else
      this.delayed.set(
        key,
        Math.min(this.delayed.get(key) ?? Number.POSITIVE_INFINITY, this.now + delayMs),
      );
  }

  done(key: string): void {
    if (!this.processing.delete(key)) return;
    if (this.dirty.delete(key)) this.waiting.add(key);
  }

  advance(ms: number): void {
    this.now += ms;
    for (const [key, dueAt] of this.delayed) {
      if (dueAt > this.now) continue;
      this.delayed.delete(key);
      this.add(key);
    }
  }
}

describe("any use of a work queue", () => {
  const key = fc.constantFrom("a", "b", "c", "d");
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ kind: fc.constantFrom("add" as const, "addLow" as const, "done" as const), key }),
    fc.record({
      kind: fc.constant("addAfter" as const),
      key,
      delayMs: fc.integer({ min: 0, max: 50 }),
    }),
    fc.constant({ kind: "get" as const }),
    fc.record({ kind: fc.constant("advance" as const), ms: fc.integer({ min: 0, max: 30 }) }),
  );

  it("returns exactly the keys that are queued, none to two workers, and loses none", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const { clock, queue } = setUp();
        const model = new Model();
        for (const one of steps) {
          switch (one.kind) {
            case "add":
            case "addLow":
              queue.add(one.key, one.kind === "add" ? "normal" : "low");
              model.add(one.key);
              break;
            case "addAfter":
              queue.addAfter(one.key, one.delayMs);
              model.addAfter(one.key, one.delayMs);
              break;
            case "done":
              queue.done(one.key);
              model.done(one.key);
              break;
            case "advance":
              clock.advanceNow(one.ms);
              model.advance(one.ms);
              break;
            case "get": {
              if (model.waiting.size === 0) break;
              const taken = await queue.get();
              assert.ok(
                taken !== undefined && model.waiting.delete(taken),
                `${taken} was not waiting`,
              );
              assert.ok(!model.processing.has(taken), `${taken} was given twice`);
              model.processing.add(taken);
              break;
            }
          }
          assert.equal(queue.length, model.waiting.size);
          assert.ok(clock.waiting().length <= 1);
        }
        // Workers that finish everything get each key again that was added after it was given.
        queue.shutdown();
        for (const busy of [...model.processing]) {
          queue.done(busy);
          model.done(busy);
        }
        for (let left = await queue.get(); left !== undefined; left = await queue.get()) {
          assert.ok(model.waiting.delete(left));
        }
        assert.equal(model.waiting.size, 0);
      }),
      { numRuns: 500 },
    );
  });

  it("never has idle workers and queued keys at the same time", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(key, { minLength: 1, maxLength: 20 }),
        fc.integer({ min: 1, max: 4 }),
        async (keys, workers) => {
          const { queue } = setUp();
          const busy = new Set<string>();
          const seen = new Set<string>();
          const work = async (): Promise<void> => {
            for (let taken = await queue.get(); taken !== undefined; taken = await queue.get()) {
              assert.ok(!busy.has(taken));
              busy.add(taken);
              seen.add(taken);
              await settle();
              busy.delete(taken);
              queue.done(taken);
            }
          };
          const working = Array.from({ length: workers }, work);
          for (const one of keys) queue.add(one);
          queue.shutdown();
          await Promise.all(working);

          assert.deepEqual([...seen].sort(), [...new Set(keys)].sort());
        },
      ),
      { numRuns: 50 },
    );
  });
});
