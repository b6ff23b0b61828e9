import assert from "node:assert/strict";
import type { ClusterRegistrationToken } from "@flotilla/shared/api";
import { describe, test } from "vitest";
import { matchesAny, termsOf, validateToken } from "./token.ts";

const token: ClusterRegistrationToken = {
  metadata: {
    name: "first",
    namespace: "fleet-default",
    uid: "u",
    creationTimestamp: "2026-01-01T00:00:00Z",
  },
  spec: { ttl: "1h" },
};
const now = Date.UTC(2026, 0, 1, 0, 30);
const validInput = { presented: "u.secret", token, expected: "u.secret", now };

describe("a presented registration token", () => {
  test("is valid for clusters of its namespace", () => {
    assert.deepEqual(validateToken(validInput), { kind: "valid", token: termsOf(token) });
  });

  test("is unknown when it or its Secret does not exist, or its secret part differs", () => {
    for (const wrong of [{ token: undefined }, { expected: "" }, { presented: "u.secreT" }]) {
      assert.deepEqual(validateToken({ ...validInput, ...wrong }), { kind: "unknown" });
    }
  });

  test("expires at the end of its ttl, even before it is deleted", () => {
    assert.deepEqual(validateToken({ ...validInput, now: Date.UTC(2026, 0, 1, 1) }), {
      kind: "expired",
      name: "fleet-default/first",
      expiredAt: "2026-01-01T01:00:00.000Z",
    });
  });

  test("is not reported as expired without its secret part", () => {
    const wrongInput = { ...validInput, presented: "u.wrongInput", now: Date.UTC(2026, 0, 2) };

    assert.deepEqual(validateToken(wrongInput), { kind: "unknown" });
  });
});

test("a pattern is a whole name, or the start of one if it ends in *", () => {
  const patterns = ["eu-*", "one"];

  const names = ["eu-1", "eu-", "one", "one-2", "us-eu-1", "eu"];
  assert.deepEqual(
    names.filter((name) => matchesAny(name, patterns)),
    ["eu-1", "eu-", "one"],
  );
});
