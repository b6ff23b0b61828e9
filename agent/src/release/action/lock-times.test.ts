import assert from "node:assert/strict";
import { plainContent } from "@flotilla/shared/content/testing";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { test } from "vitest";
import { createLockTimes, lockTimeoutMs } from "./lock-times.ts";

const record = {
  namespace: "apps",
  name: "web",
  revision: 2,
  status: "pending-upgrade",
  isOwn: false,
  modifiedAtMs: 0,
  version: "1",
};

test("a lock is as old as its last change that this process observed", async () => {
  const clock = createFakeClock();
  const lockTimes = createLockTimes(clock);

  assert.equal(lockTimes.unchangedMs(record), 0);
  await clock.advance(5_000);
  assert.equal(lockTimes.unchangedMs(record), 5_000);
  assert.equal(lockTimes.unchangedMs({ ...record, version: "2" }), 0);
  await clock.advance(1_000);
  assert.equal(lockTimes.unchangedMs({ ...record, version: "2" }), 1_000);

  lockTimes.forget(record);

  assert.equal(lockTimes.unchangedMs({ ...record, version: "2" }), 0);
});

test("the timeout of a lock is that of the release, or Helm's own", () => {
  const withTimeout = (timeoutSeconds: number) =>
    lockTimeoutMs({ ...plainContent, helm: { ...plainContent.helm, timeoutSeconds } });

  assert.equal(withTimeout(30), 30_000);
  assert.equal(withTimeout(900), 900_000);
  assert.equal(withTimeout(0), 300_000);
});
