import assert from "node:assert/strict";
import { createWorkQueue } from "@flotilla/shared/kube/controller/work-queue.ts";
import { createFakeClock } from "@flotilla/shared/time/testing/fake-clock.ts";
import { describe, test } from "vitest";
import { lookTogether } from "./look-together.ts";

function setUp({ clusters = 5_000 } = {}) {
  const clock = createFakeClock();
  const queue = createWorkQueue({ clock });
  const looks: string[] = [];
  void (async () => {
    for (let key = await queue.get(); key !== undefined; key = await queue.get()) {
      looks.push(`${key} at ${clock.monotonic()}`);
      queue.done(key);
    }
  })();
  const changed = lookTogether(
    { enqueue: (key) => queue.add(key), enqueueAfter: (key, ms) => queue.addAfter(key, ms) },
    { size: clusters },
    clock,
  );
  return { clock, looks, changed };
}

describe("a Bundle whose clusters or deployments change", () => {
  test("is looked at with the first change at once", async () => {
    const { clock, looks, changed } = setUp();
    const begun = clock.monotonic();

    changed("a/web");
    await clock.advance(0);

    assert.deepEqual(looks, [`a/web at ${begun}`]);
  });

  test("is looked at some times a second while hundreds change, and after the last one", async () => {
    const { clock, looks, changed } = setUp();

    for (let change = 0; change < 500; change += 1) {
      changed("a/web");
      await clock.advance(10);
    }
    const whileTheyChange = looks.length;
    await clock.advance(500);

    assert.ok(whileTheyChange >= 10 && whileTheyChange <= 25, `${whileTheyChange} looks in 5 s`);
    assert.equal(looks.length, whileTheyChange + 1);
  });

  test("is looked at with each change where there are few of them", async () => {
    const { clock, looks, changed } = setUp({ clusters: 12 });

    for (let change = 0; change < 500; change += 1) {
      changed("a/web");
      await clock.advance(10);
    }

    assert.equal(looks.length, 500);
  });

  test("does not wait for another Bundle's changes", async () => {
    const { clock, looks, changed } = setUp();
    for (let change = 0; change < 50; change += 1) changed("a/web");
    await clock.advance(0);
    const before = looks.length;

    changed("a/other");
    await clock.advance(0);

    assert.deepEqual(looks.slice(before), [`a/other at ${clock.monotonic()}`]);
  });
});
