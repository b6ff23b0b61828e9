import assert from "node:assert/strict";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { test } from "vitest";
import { createReceiveLimit, receiveLimits } from "./flow-control.ts";

function start() {
  const clock = createFakeClock();
  let isRead = true;
  const limit = createReceiveLimit({
    clock,
    onExceeded: () => {
      isRead = false;
    },
    onAvailable: () => {
      isRead = true;
    },
  });
  return { clock, limit, isRead: () => isRead };
}

test("reads a flooding agent at the limited rate", async () => {
  const { clock, limit, isRead } = start();
  let read = 0;

  for (let seconds = 0; seconds < 60; seconds += 0.1) {
    // As many at once as the stream has buffered.
    for (let more = 0; isRead() && more < 10_000; more += 1) {
      limit.received();
      read += 1;
    }
    await clock.advance(100);
  }

  const most = receiveLimits.burst + 60 * receiveLimits.perSecond;
  assert.ok(read <= most + 1 && read > most * 0.9, `${read} messages in a minute`);
});

test("does not pause an agent that reports everything at once", () => {
  const { limit, isRead } = start();

  for (let count = 0; count < receiveLimits.burst - 1; count += 1) limit.received();

  assert.ok(isRead());
});
