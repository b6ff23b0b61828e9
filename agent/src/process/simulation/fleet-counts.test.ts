import assert from "node:assert/strict";
import { test } from "vitest";
import { type DeploymentResult, toDeploymentState } from "../../observe/report/deployment-state.ts";
import { testAssignment } from "../../testing/index.ts";
import { createFleetCounter } from "./fleet-counts.ts";

const assignment = await testAssignment("web");
const failed: DeploymentResult = {
  kind: "failed",
  deploymentId: "d",
  message: "no",
  code: "HELM_FAILED",
};
const pending: DeploymentResult = { kind: "pending", message: "" };

test("counts a deployment by its last reported state until it is withdrawn", () => {
  let changes = 0;
  const counter = createFleetCounter(() => {
    changes += 1;
  });
  const forwarded: string[] = [];
  const outbox = counter.observed({
    report: ({ phase }) => forwarded.push(phase),
    withdrawn: ({ name }) => forwarded.push(name),
  });

  outbox.report(toDeploymentState(assignment, pending));
  outbox.report({ ...toDeploymentState(assignment, pending), ready: true });
  assert.deepEqual(counter.counts.deployments, { ready: 1, failed: 0, other: 0 });
  outbox.report(toDeploymentState(assignment, failed));
  outbox.report(toDeploymentState(assignment, failed));
  assert.deepEqual(counter.counts.deployments, { ready: 0, failed: 1, other: 0 });
  outbox.withdrawn(assignment.owner);

  assert.deepEqual(counter.counts.deployments, { ready: 0, failed: 0, other: 0 });
  assert.deepEqual(forwarded, ["pending", "pending", "failed", "failed", "web"]);
  assert.equal(changes, 4);
});

test("counts deployments of the same name for each agent", () => {
  const counter = createFleetCounter(() => undefined);
  for (let agent = 0; agent < 2; agent += 1) {
    const outbox = counter.observed({ report: () => undefined, withdrawn: () => undefined });
    outbox.report({ ...toDeploymentState(assignment, pending), ready: true });
  }

  assert.equal(counter.counts.deployments.ready, 2);
});

test("counts connected agents", () => {
  const counter = createFleetCounter(() => undefined);

  counter.connectionChanged(true);
  counter.connectionChanged(true);
  counter.connectionChanged(false);

  assert.equal(counter.counts.connected, 1);
});
