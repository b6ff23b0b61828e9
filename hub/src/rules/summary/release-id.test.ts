import assert from "node:assert/strict";
import { test } from "vitest";
import { formatReleaseId, parseReleaseId } from "./release-id.ts";

test("a release is read from the status as it was written", () => {
  const release = { namespace: "shop", name: "web", revision: 12 };

  assert.equal(formatReleaseId(release), "shop/web:12");
  assert.deepEqual(parseReleaseId("shop/web:12"), release);
});

test("without a release there is nothing to read", () => {
  assert.equal(parseReleaseId(undefined), undefined);
  assert.equal(parseReleaseId(""), undefined);
});
