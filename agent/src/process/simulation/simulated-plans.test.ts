import assert from "node:assert/strict";
import { parsePlanAnswer } from "@flotilla/shared/plan";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { test } from "vitest";
import { testAssignment } from "../../testing/index.ts";
import { createSimulatedPlans } from "./simulated-plans.ts";

const assignment = await testAssignment("web");

async function planOf(group: number, deploymentId: string, withText = false) {
  const parts: string[] = [];
  const answer = createSimulatedPlans(
    { group, latencyMs: 0 },
    {
      assignments: { get: () => ({ ...assignment, paused: false, withdrawing: false }) },
      clock: createFakeClock(),
      random: () => 0.5,
    },
  );
  const body = {
    kind: "plan",
    deploymentId,
    key: Buffer.from("k"),
    withText,
    objects: [],
  } as const;
  await answer(
    { deployment: assignment.owner, body },
    {
      write: (text) => Promise.resolve(void parts.push(text)),
      signal: new AbortController().signal,
    },
  );
  const read = parsePlanAnswer(Buffer.from(parts.join("")));
  assert.ok(read);
  return read;
}

test("nothing changes for the content that is assigned", async () => {
  const { result, text } = await planOf(1, assignment.deploymentId, true);

  assert.deepEqual([result.result, text], ["none", ""]);
});

test("agents of one group answer with one diff, and others with another one", async () => {
  const [one, same, other] = await Promise.all([
    planOf(1, "sha256:new"),
    planOf(1, "sha256:new"),
    planOf(2, "sha256:new", true),
  ]);

  assert.equal(one.result.digest, same.result.digest);
  assert.notEqual(one.result.digest, other.result.digest);
  assert.equal(one.result.result, "changes");
  assert.equal(one.text, "");
  assert.match(other.text, /^\+group: 2\n/);
});
