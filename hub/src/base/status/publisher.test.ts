import assert from "node:assert/strict";
import { createSemaphore } from "@flotilla/shared/concurrency";
import { conflict, serverError } from "@flotilla/shared/kube/testing";
import { settle } from "@flotilla/shared/time/testing";
import { describe, it } from "vitest";
import { key, ref, ships, start, written } from "./testing/index.ts";

describe("a status writer", () => {
  it("writes an urgent status at once", async () => {
    const { kube, setDesired } = start();

    setDesired("ready!");
    await settle();

    assert.deepEqual(kube.writes, [written]);
  });

  it("writes other changes after a second, several in one write", async () => {
    const { kube, clock, setDesired, stored } = start();

    setDesired("one");
    await clock.advance(500);
    setDesired("two");
    setDesired("three");
    await clock.advance(499);
    assert.deepEqual(kube.writes, []);
    await clock.advance(1);

    assert.deepEqual(kube.writes, [written]);
    assert.equal(stored(), "three");
  });

  it("writes pending changes together with an urgent one", async () => {
    const { kube, clock, setDesired, stored } = start();

    setDesired("installing");
    await clock.advance(300);
    setDesired("ready!");
    await clock.advance(5_000);

    assert.deepEqual(kube.writes, [written]);
    assert.equal(stored(), "ready!");
  });

  it("keeps no state of a deleted object: a new one of its name is written at once", async () => {
    const { kube, store, writer, setDesired } = start();
    for (const text of ["1!", "2!", "3!", "4!", "5!"]) {
      setDesired(text);
      await settle();
    }
    const deleted = store.get(key);
    assert.ok(deleted !== undefined);
    store.remove(deleted);
    writer.refresh(key);

    store.set(kube.put(ships, { metadata: { ...ref, uid: "another" } }));
    setDesired("6!");
    await settle();

    assert.equal(kube.writes.length, 6);
  });

  it("writes nothing when a change is reverted before it is written", async () => {
    const { kube, clock, desired, writer, setDesired } = start();
    setDesired("ready!");
    await settle();

    setDesired("changing");
    setDesired("ready!");
    await clock.advance(5_000);
    desired.delete(ref.name);
    writer.refresh(key);
    await clock.advance(5_000);

    assert.deepEqual(kube.writes, [written]);
  });

  it("writes five urgent statuses at once, then one a second, and always the last one", async () => {
    const { kube, clock, setDesired, stored } = start();
    const text = async (count: number, first: number): Promise<void> => {
      for (let index = first; index < first + count; index += 1) {
        setDesired(`${index}!`);
        await settle();
      }
    };

    await text(8, 0);
    assert.equal(kube.writes.length, 5);
    assert.equal(stored(), "4!");
    await clock.advance(1_000);
    assert.equal(kube.writes.length, 6);
    assert.equal(stored(), "7!");

    await text(3, 8);
    assert.equal(kube.writes.length, 6);
    await clock.advance(1_000);
    assert.equal(kube.writes.length, 7);
    assert.equal(stored(), "10!");
  });

  it("writes five urgent statuses at once again after a while", async () => {
    const { kube, clock, setDesired } = start();
    for (let index = 0; index < 5; index += 1) {
      setDesired(`${index}!`);
      await settle();
    }
    await clock.advance(10_000);

    for (let index = 5; index < 12; index += 1) {
      setDesired(`${index}!`);
      await settle();
    }

    assert.equal(kube.writes.length, 10);
  });

  it("has one write of an object in flight, and then writes the changes since then", async () => {
    const { kube, setDesired, stored } = start();
    const unblock = kube.hold();

    setDesired("one!");
    await settle();
    setDesired("two!");
    setDesired("three!");
    await settle();
    assert.equal(kube.writes.length, 1);
    unblock();
    await settle();

    assert.equal(kube.writes.length, 2);
    assert.equal(stored(), "three!");
  });

  it("limits the writes in flight", async () => {
    const { kube, setDesired, stored } = start({ concurrency: 2, others: 5 });
    const unblock = kube.hold();

    for (let index = 0; index < 5; index += 1) setDesired("ready!", `other-${index}`);
    await settle();
    assert.equal(kube.writes.length, 2);
    unblock();
    await settle();

    assert.equal(kube.writes.length, 5);
    assert.equal(stored("other-4"), "ready!");
  });

  it("writes progress after what goes first, and urgent changes at once", async () => {
    const goesFirst = createSemaphore(1);
    const { kube, clock, setDesired } = start({ goesFirst, others: 1 });
    await goesFirst.acquire();

    setDesired("one");
    setDesired("two", "other-0");
    await clock.advance(2_000);
    assert.deepEqual(kube.writes, []);
    setDesired("one!");
    await settle();
    assert.deepEqual(kube.writes, [written]);
    goesFirst.release();
    await settle();

    assert.deepEqual(kube.writes, [written, "replace ships sea/other-0"]);
  });

  it("writes what waits behind other writes when it is flushed", async () => {
    const goesFirst = createSemaphore(1);
    const { clock, setDesired, stored, writer } = start({ goesFirst });
    await goesFirst.acquire();

    setDesired("one");
    await clock.advance(2_000);
    await writer.flush();

    assert.equal(stored(), "one");
  });

  it("writes nothing that is already stored, and reports it as settled", async () => {
    const { kube, settled, setDesired } = start();
    setDesired("ready!");
    await settle();

    setDesired("ready!");

    assert.deepEqual(kube.writes, [written]);
    assert.deepEqual(settled, [key, key]);
  });

  it("reports an object as settled that does not exist, or that has no status", () => {
    const { kube, settled, writer } = start();

    writer.refresh("sea/unknown");
    writer.refresh(key);

    assert.deepEqual(settled, ["sea/unknown", key]);
    assert.deepEqual(kube.writes, []);
  });

  it("computes the status of the newest object again after a conflict", async () => {
    const { kube, setDesired } = start();
    kube.put(ships, { metadata: { ...ref, labels: { new: "label" } } });

    setDesired("ready!");
    await settle();

    assert.deepEqual(kube.writes, [written, written]);
    const ship = kube.peek(ships, ref);
    assert.deepEqual(ship?.metadata.labels, { new: "label" });
    assert.equal(ship.status?.text, "ready!");
  });

  it("writes nothing when another client wrote the same", async () => {
    const { kube, settled, setDesired } = start();
    kube.put(ships, { metadata: ref, status: { text: "ready!" } });

    setDesired("ready!");
    await settle();

    assert.deepEqual(kube.writes, [written]);
    assert.deepEqual(settled, [key]);
  });

  it("is not settled by conflicts, however many: it retries", async () => {
    const { kube, clock, settled, setDesired, stored } = start();
    kube.failNext(conflict(), conflict(), conflict());

    setDesired("ready!");
    await settle();
    assert.equal(kube.writes.length, 3);
    assert.deepEqual(settled, []);
    await clock.advance(200);

    assert.equal(stored(), "ready!");
    assert.deepEqual(settled, [key]);
  });

  it("retries a failed write with backoff, until it is stored", async () => {
    const { kube, clock, settled, setDesired, stored } = start();
    kube.failNext(serverError(), serverError(), serverError());

    setDesired("ready!");
    await settle();
    const delays: number[] = [];
    while (stored() !== "ready!") {
      const [delay = 0] = clock.waiting();
      delays.push(delay);
      assert.deepEqual(settled, []);
      await clock.advance(delay);
    }

    assert.deepEqual(delays, [200, 400, 800]);
    assert.deepEqual(settled, [key]);
  });

  it("never waits longer than half a minute for the next retry", async () => {
    const { kube, clock, setDesired } = start();
    kube.failNext(...Array.from({ length: 20 }, serverError));

    setDesired("ready!");
    for (let index = 0; index < 15; index += 1) {
      await clock.advance(clock.waiting()[0] ?? 0);
      assert.ok((clock.waiting()[0] ?? 0) <= 30_000);
    }
    assert.equal(clock.waiting()[0], 30_000);
  });

  it("drops a deleted object", async () => {
    const { kube, clock, settled, setDesired } = start();
    await kube.delete(ships, ref);

    setDesired("ready!");
    await settle();

    assert.deepEqual(settled, [key]);
    // Nothing is retried: all that is left to do is to forget it.
    await clock.advance(5_000);
    assert.deepEqual(clock.waiting(), []);
  });
});
