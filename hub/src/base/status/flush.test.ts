import assert from "node:assert/strict";
import { serverError } from "@flotilla/shared/kube/testing";
import { settle } from "@flotilla/shared/time/testing";
import { describe, it } from "vitest";
import { start } from "./testing/index.ts";

describe("a flush", () => {
  it("resolves at once when nothing is pending", async () => {
    const { kube, writer } = start();

    await writer.flush();

    assert.deepEqual(kube.writes, []);
  });

  it("writes what is pending, and resolves when it is stored", async () => {
    const { kube, clock, writer, setDesired, stored } = start({ others: 1 });
    setDesired("installing");
    setDesired("installing", "other-0");

    await writer.flush();

    assert.equal(kube.writes.length, 2);
    assert.equal(stored(), "installing");
    assert.deepEqual(clock.waiting(), []);
  });

  it("waits for writes in flight and for later changes, also without tokens", async () => {
    const { kube, writer, setDesired, stored } = start();
    for (let index = 0; index < 4; index += 1) {
      setDesired(`${index}!`);
      await settle();
    }
    const unblock = kube.hold();
    setDesired("last but one!");
    setDesired("last");
    let isOver = false;

    const flushed = writer.flush().then(() => {
      isOver = true;
    });
    await settle();
    assert.equal(isOver, false);
    unblock();
    await flushed;

    assert.equal(stored(), "last");
  });

  it("ignores objects that are enqueued later", async () => {
    const { kube, clock, writer, setDesired } = start();
    await writer.flush();

    setDesired("ready!");
    await clock.advance(5_000);

    assert.deepEqual(kube.writes, []);
  });

  it("drops what cannot be written, and does not report it as settled", async () => {
    const { kube, clock, settled, writer, setDesired } = start({ others: 1 });
    kube.failNext(...Array.from({ length: 9 }, serverError));
    setDesired("ready!");
    await settle();
    setDesired("installing", "other-0");

    await writer.flush();

    assert.equal(kube.writes.length, 3);
    assert.deepEqual(settled, []);
    assert.deepEqual(clock.waiting(), []);
  });
});
