import assert from "node:assert/strict";
import { test } from "vitest";
import { composeState, type Outcome } from "../report/compose-state.ts";
import { heldAs } from "../testing/held-as.ts";
import { createTally } from "./tally.ts";

const held = await heldAs("web");
const failed: Outcome = { kind: "failed", deploymentId: "d", message: "no", code: "HELM_FAILED" };
const pending: Outcome = { kind: "pending", message: "" };

test("a deployment is counted as it was reported last, and no more once it is withdrawn", () => {
  let changes = 0;
  const tally = createTally(() => {
    changes += 1;
  });
  const said: string[] = [];
  const outbox = tally.observed({
    report: ({ phase }) => said.push(phase),
    withdrawn: ({ name }) => said.push(name),
  });

  outbox.report(composeState(held, pending));
  outbox.report({ ...composeState(held, pending), ready: true });
  assert.deepEqual(tally.counts.deployments, { ready: 1, failed: 0, other: 0 });
  outbox.report(composeState(held, failed));
  outbox.report(composeState(held, failed));
  assert.deepEqual(tally.counts.deployments, { ready: 0, failed: 1, other: 0 });
  outbox.withdrawn(held.owner);

  assert.deepEqual(tally.counts.deployments, { ready: 0, failed: 0, other: 0 });
  assert.deepEqual(said, ["pending", "pending", "failed", "failed", "web"]);
  assert.equal(changes, 4);
});

test("deployments of one name are counted for each agent", () => {
  const tally = createTally(() => undefined);
  for (let agent = 0; agent < 2; agent += 1) {
    const outbox = tally.observed({ report: () => undefined, withdrawn: () => undefined });
    outbox.report({ ...composeState(held, pending), ready: true });
  }

  assert.equal(tally.counts.deployments.ready, 2);
});

test("agents come and go", () => {
  const tally = createTally(() => undefined);

  tally.connectionChanged(true);
  tally.connectionChanged(true);
  tally.connectionChanged(false);

  assert.equal(tally.counts.connected, 1);
});
