import assert from "node:assert/strict";
import { createFakeClock } from "@flotilla/shared/time/testing/fake-clock.ts";
import { test } from "vitest";
import { createBrake } from "./brake.ts";
import { createPace, paceLimits } from "./pace.ts";

function start() {
  const clock = createFakeClock();
  let isRead = true;
  const brake = createBrake({
    pause: () => {
      isRead = false;
    },
    resume: () => {
      isRead = true;
    },
  });
  const pace = createPace({
    clock,
    onFast: () => brake.hold("pace"),
    onCalm: () => brake.release("pace"),
  });
  return { clock, brake, pace, isRead: () => isRead };
}

test("an agent that floods is read at the pace, however fast it is", async () => {
  const { clock, pace, isRead } = start();
  let read = 0;

  for (let seconds = 0; seconds < 60; seconds += 0.1) {
    // As many at once as the stream has read ahead.
    for (let more = 0; isRead() && more < 10_000; more += 1) {
      pace.heard();
      read += 1;
    }
    await clock.advance(100);
  }

  const most = paceLimits.burst + 60 * paceLimits.perSecond;
  assert.ok(read <= most + 1 && read > most * 0.9, `${read} messages in a minute`);
});

test("an agent that says all that it has at once is not held up", () => {
  const { pace, isRead } = start();

  for (let said = 0; said < paceLimits.burst - 1; said += 1) pace.heard();

  assert.ok(isRead());
});

test("an agent is read again when no reason is left", () => {
  const { brake, isRead } = start();

  brake.hold("pace");
  brake.hold("reports");
  brake.release("pace");
  assert.ok(!isRead());
  brake.release("reports");

  assert.ok(isRead());
});
