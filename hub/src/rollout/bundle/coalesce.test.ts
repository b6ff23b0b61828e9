import assert from "node:assert/strict";
import { createWorkQueue } from "@flotilla/shared/kube/controller";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import { coalesce, createCoalescer } from "./coalesce.ts";

function setUp({ clusters = 5_000 } = {}) {
  const clock = createFakeClock();
  const queue = createWorkQueue({ clock });
  const reconciles: string[] = [];
  void (async () => {
    for (let key = await queue.get(); key !== undefined; key = await queue.get()) {
      reconciles.push(`${key} at ${clock.monotonic()}`);
      queue.done(key);
    }
  })();
  const coalescer = createCoalescer({ size: clusters }, clock);
  const handler = coalesce((key, ms) => queue.addAfter(key, ms), coalescer);
  const changed = handler((key) => queue.add(key));
  return { clock, reconciles, changed };
}

describe("reconciles of a Bundle whose clusters or deployments change", () => {
  test("the first change enqueues the Bundle at once", async () => {
    const { clock, reconciles, changed } = setUp();
    const begun = clock.monotonic();

    changed("a/web");
    await clock.advance(0);

    assert.deepEqual(reconciles, [`a/web at ${begun}`]);
  });

  test("hundreds of changes enqueue it a few times a second, and once after the last change", async () => {
    const { clock, reconciles, changed } = setUp();

    for (let change = 0; change < 500; change += 1) {
      changed("a/web");
      await clock.advance(10);
    }
    const duringBurst = reconciles.length;
    await clock.advance(500);

    assert.ok(duringBurst >= 10 && duringBurst <= 25, `${duringBurst} reconciles in 5 s`);
    assert.equal(reconciles.length, duringBurst + 1);
  });

  test("few changes enqueue it once each", async () => {
    const { clock, reconciles, changed } = setUp({ clusters: 12 });

    for (let change = 0; change < 500; change += 1) {
      changed("a/web");
      await clock.advance(10);
    }

    assert.equal(reconciles.length, 500);
  });

  test("changes of another Bundle do not delay it", async () => {
    const { clock, reconciles, changed } = setUp();
    for (let change = 0; change < 50; change += 1) changed("a/web");
    await clock.advance(0);
    const before = reconciles.length;

    changed("a/other");
    await clock.advance(0);

    assert.deepEqual(reconciles.slice(before), [`a/other at ${clock.monotonic()}`]);
  });
});
