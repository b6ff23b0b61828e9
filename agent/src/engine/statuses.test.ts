import assert from "node:assert/strict";
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
});
