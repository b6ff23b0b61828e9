import assert from "node:assert/strict";
import { createFakeClock, settle } from "@flotilla/shared/time/testing";
import { test } from "vitest";
import { runChanges } from "./simulated-changes.ts";

async function changesOf(agentCount: number, seconds: number): Promise<readonly string[]> {
  const clock = createFakeClock();
  const ending = new AbortController();
  const made: string[] = [];
  const unready = new Set<number>();
  const agents = Array.from({ length: agentCount }, (_, agent) => () => {
    const isReady = unready.delete(agent);
    if (!isReady) unready.add(agent);
    made.push(`${isReady ? "+" : "-"}${agent}`);
  });
  const running = runChanges({ perSecond: 50, agents }, clock, ending.signal);
  for (let tick = 0; tick < seconds * 50; tick += 1) {
    clock.advanceNow(20);
    await settle();
  }
  ending.abort();
  await running;
  return made;
}

test("simulated changes are made at their rate, and as many releases become not ready as ready", async () => {
  const made = await changesOf(20, 2);

  assert.equal(made.length, 100);
  assert.equal(made.slice(0, 8).join(" "), "-0 -1 -2 +0 -3 +1 -4 +2");
  assert.equal(made.slice(-4).join(" "), "-9 +7 -10 +8");
});

test("a single agent is not ready and ready in turn", async () => {
  const made = await changesOf(1, 0.08);
  assert.equal(made.join(" "), "-0 +0 -0 +0");
});

test("without a rate nothing changes", async () => {
  const never = new AbortController().signal;
  await runChanges({ perSecond: 0, agents: [assert.fail] }, createFakeClock(), never);
});
