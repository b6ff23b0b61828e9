import assert from "node:assert/strict";
import { test } from "vitest";
import { userFields } from "../cache/keys.ts";
import { aHelmOp } from "../testing/index.ts";

test("log lines name who made a HelmOp, where Rancher says so", () => {
  const label = "fleet.cattle.io/created-by-user-id";

  assert.deepEqual(userFields(aHelmOp({}, { labels: { [label]: "user-abc" } })), {
    userID: "user-abc",
  });
  assert.deepEqual(userFields(aHelmOp({}, { labels: { [label]: "" } })), {});
  assert.deepEqual(userFields(aHelmOp()), {});
  assert.deepEqual(userFields(undefined), {});
});
