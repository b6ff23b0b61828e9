import assert from "node:assert/strict";
import { helmRepositories } from "@flotilla/shared/flux";
import { describe, test } from "vitest";
import { gate, refused, startTestRepository } from "./testing/index.ts";

const minute = 60_000;

describe("a source", () => {
  test("says since when it is read again once that takes long, and nothing else changes", async (t) => {
    const { create, read, clock, address, events, condition, until, writes } =
      await startTestRepository(t, refused);
    create();
    await read(1);
    const before = condition("Ready");
    assert.match(before?.message ?? "", /; retrying at 2026-01-01T00:00:00Z$/);
    const [quick, slow] = [gate(), gate()];

    address.slow = quick.passed;
    await clock.advance(1_000);
    await until(() => (address.reads === 2 ? true : undefined));
    const written = writes.count;
    await clock.advance(4_990);
    assert.equal(writes.count, written, "no write before it takes long");
    address.slow = slow.passed;
    quick.open();
    await until(() => (writes.count === written + 1 ? true : undefined));
    await clock.advance(2_000);
    await until(() => (address.reads === 3 ? true : undefined));
    await clock.advance(6_000);
    await until(() => (writes.count === written + 2 ? true : undefined));

    const { message, ...same } = condition("Ready") ?? {};
    assert.match(
      message ?? "",
      /^GET https:\/\/charts.example.com: connection refused; trying again since 2026-01-01T00:00:0\dZ$/,
    );
    assert.deepEqual({ ...same, message: "" }, { ...before, message: "" });
    assert.equal(condition("FetchFailed")?.message, message);
    assert.deepEqual(events, ["Warning Failed", "Warning Failed"]);
    await clock.advance(minute);
    assert.equal(writes.count, written + 2);

    slow.open();
    await until(() => (events.length === 3 ? true : undefined));
    await clock.advance(1_000);
    await until(() => (condition("Ready")?.message?.includes("retrying at") ? true : undefined));
  });

  test("that takes long after a success says nothing of it", async (t) => {
    const { create, read, clock, address, condition, until, request, writes } =
      await startTestRepository(t);
    create();
    await read(1);
    const written = writes.count;

    const slow = gate();
    address.slow = slow.passed;
    request(helmRepositories, "charts", "one");
    await until(() => (address.reads === 2 ? true : undefined));
    await clock.advance(minute);
    assert.equal(writes.count, written);
    assert.equal(condition("Ready")?.message, "stored '1'");
    slow.open();
  });
});
