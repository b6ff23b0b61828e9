import assert from "node:assert/strict";
import type { ClusterRegistrationToken } from "@flotilla/shared/api/cluster-registration-token.ts";
import { describe, test } from "vitest";
import { judgeToken } from "./judge-token.ts";
import { termsOf } from "./token-terms.ts";

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
const evidence = { presented: "u.secret", token, expected: "u.secret", now };

describe("a registration token that an agent shows", () => {
  test("is good for clusters of its namespace", () => {
    assert.deepEqual(judgeToken(evidence), { kind: "good", token: termsOf(token) });
  });

  test("is unknown when nobody made it, its Secret is gone, or its secret part differs", () => {
    for (const wrong of [{ token: undefined }, { expected: "" }, { presented: "u.secreT" }]) {
      assert.deepEqual(judgeToken({ ...evidence, ...wrong }), { kind: "unknown" });
    }
  });

  test("has ended at the end of its ttl, even before it is deleted", () => {
    assert.deepEqual(judgeToken({ ...evidence, now: Date.UTC(2026, 0, 1, 1) }), {
      kind: "ended",
      name: "fleet-default/first",
      endedAt: "2026-01-01T01:00:00.000Z",
    });
  });

  test("is not said to have ended to somebody who only guesses", () => {
    const guess = { ...evidence, presented: "u.guess", now: Date.UTC(2026, 0, 2) };

    assert.deepEqual(judgeToken(guess), { kind: "unknown" });
  });
});
