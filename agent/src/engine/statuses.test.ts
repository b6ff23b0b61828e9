import assert from "node:assert/strict";
<<<<<<< HEAD
import { describe, test } from "vitest";
import { testAssignment } from "../testing/index.ts";
import { createStatuses } from "./statuses.ts";

const assignment = await testAssignment("web");

describe("the states that a new stream begins with", () => {
  test("lack a deployment whose first reconcile is in progress, so that the hub keeps what it knows", () => {
    const statuses = createStatuses({
      assignments: { get: () => assignment, list: () => [assignment] },
      readiness: {
        track: () => undefined,
        forget: () => undefined,
        readinessOf: () => undefined,
      },
      outbox: { report: () => undefined },
      onState: () => undefined,
    });

    const own = statuses.ensure("web");
    assert.deepEqual(statuses.states(), []);

    own.result = { kind: "pending", message: "paused" };
    statuses.report("web");
    assert.deepEqual(
      statuses.states().map(({ name, message }) => `${name}: ${message}`),
      ["web: paused"],
    );
  });
=======
import type { DeploymentState } from "@flotilla/proto";
import { test } from "vitest";
import type { Assignment } from "../assignment/index.ts";
import { createStatuses } from "./statuses.ts";

const assignment: Assignment = {
  owner: { name: "app", uid: "1" },
  deploymentId: "d1",
  content: new Uint8Array(),
  paused: false,
  withdrawing: false,
};

test("the states of all deployments have none whose first reconcile has not ended", () => {
  const reported: DeploymentState[] = [];
  const statuses = createStatuses({
    assignments: { get: () => assignment, list: () => [assignment] },
    readiness: { track: () => undefined, forget: () => undefined, readinessOf: () => undefined },
    outbox: { report: (state) => reported.push(state) },
    onState: () => undefined,
  });

  const own = statuses.ensure("app");
  const before = statuses.states();
  own.result = { kind: "failed", deploymentId: "d1", message: "no", code: "X" };
  statuses.report("app");

  assert.deepEqual(before, []);
  assert.deepEqual(statuses.states(), reported);
  assert.equal(reported.length, 1);
>>>>>>> main
});
