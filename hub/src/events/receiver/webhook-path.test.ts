import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "vitest";
import { isPathOf, webhookPath } from "./webhook-path.ts";

const receiver = { namespace: "apps", name: "podinfo" };

test("the path of a webhook is the digest of token, name and namespace, the token untrimmed", () => {
  const digest = createHash("sha256").update("secret\npodinfoapps").digest("hex");

  assert.equal(webhookPath("secret\n", receiver), `/hook/${digest}`);
});

test("a path is of one token only, and has no query", () => {
  const path = webhookPath("one", receiver);

  assert.equal(isPathOf(path, "one", receiver), true);
  assert.equal(isPathOf(path, "two", receiver), false);
  assert.equal(isPathOf(`${path}?a=b`, "one", receiver), false);
});
