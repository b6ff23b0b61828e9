import assert from "node:assert/strict";
import { test } from "vitest";
import { aHelmOp } from "../../testing/index.ts";
import { userFields } from "./keys.ts";

test("log lines name the creator of a HelmOp when Rancher's annotation has it", () => {
  const label = "fleet.cattle.io/created-by-user-id";

  assert.deepEqual(userFields(aHelmOp({}, { labels: { [label]: "user-abc" } })), {
    userID: "user-abc",
  });
  assert.deepEqual(userFields(aHelmOp({}, { labels: { [label]: "" } })), {});
  assert.deepEqual(userFields(aHelmOp()), {});
  assert.deepEqual(userFields(undefined), {});
});
