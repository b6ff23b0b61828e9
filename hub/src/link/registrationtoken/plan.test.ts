import assert from "node:assert/strict";
import type { ClusterRegistrationToken } from "@flotilla/shared/api";
import { describe, test } from "vitest";
import { planToken } from "./plan.ts";
import { claimedUid, isSameToken, isWrittenByHub, makeTokenValue, tokenSecret } from "./secret.ts";

const hub = { address: "hub.example:8443", authoritiesPem: "PEM" };
const created = Date.UTC(2026, 0, 1);

function token(
  ttl?: string,
  status?: ClusterRegistrationToken["status"],
): ClusterRegistrationToken {
  return {
    metadata: {
      name: "first",
      namespace: "fleet-default",
      uid: "u-1",
      creationTimestamp: "2026-01-01T00:00:00Z",
    },
    spec: ttl === undefined ? {} : { ttl },
    ...(status !== undefined && { status }),
  };
}

describe("a registration token", () => {
  test("without a ttl never expires and gets its Secret", () => {
    assert.deepEqual(planToken({ token: token(), secret: undefined, hub, now: created }), {
      kind: "keep",
      secret: { kind: "create" },
      status: { secretName: "first" },
    });
  });

  test("expires a ttl after its creation", () => {
    const plan = planToken({
      token: token("24h"),
      secret: undefined,
      hub,
      now: created + 3_600_000,
    });

    assert.deepEqual(plan, {
      kind: "keep",
      secret: { kind: "create" },
      status: { secretName: "first", expires: "2026-01-02T00:00:00Z" },
      expiresInMs: 23 * 3_600_000,
    });
  });

  test("has no expiry in its status once its ttl is removed", () => {
    const known = token(undefined, { secretName: "first", expires: "2026-01-02T00:00:00Z" });

    const plan = planToken({
      token: known,
      secret: tokenSecret(known, hub, "t"),
      hub,
      now: created,
    });

    assert.deepEqual(plan, {
      kind: "keep",
      secret: { kind: "none" },
      status: { secretName: "first" },
    });
  });

  test("is deleted when it expires", () => {
    const plan = planToken({
      token: token("24h"),
      secret: undefined,
      hub,
      now: created + 86_400_000,
    });

    assert.deepEqual(plan, { kind: "delete", expires: "2026-01-02T00:00:00Z" });
  });

  test("needs no write when everything is up to date", () => {
    const known = token(undefined, { secretName: "first" });

    const plan = planToken({
      token: known,
      secret: tokenSecret(known, hub, "t"),
      hub,
      now: created,
    });

    assert.deepEqual(plan, {
      kind: "keep",
      secret: { kind: "none" },
      status: { secretName: "first" },
    });
  });

  test("gets its Secret updated when the hub's address changes", () => {
    const known = token(undefined, { secretName: "first" });
    const secret = tokenSecret(known, { ...hub, address: "old:1" }, "t");

    const plan = planToken({ token: known, secret, hub, now: created });

    assert.deepEqual(plan, {
      kind: "keep",
      secret: { kind: "update", secret },
      status: { secretName: "first" },
    });
  });

  test("replaces the Secret of an earlier token of its name", () => {
    const earlier = { ...token(), metadata: { ...token().metadata, uid: "u-0" } };
    const secret = tokenSecret(earlier, hub, "t");

    const plan = planToken({ token: token(), secret, hub, now: created });

    assert.equal(plan.kind === "keep" && plan.secret.kind, "recreate");
  });

  test("does not change a Secret that does not belong to it", () => {
    const secret = { metadata: { name: "first", namespace: "fleet-default" } };

    assert.deepEqual(planToken({ token: token(), secret, hub, now: created }), {
      kind: "keep",
      secret: { kind: "conflict" },
      status: {},
    });
  });
});

describe("the Secret of a registration token", () => {
  const planned = (status: ClusterRegistrationToken["status"], uid: string) => {
    const of = token(undefined, status);
    const { metadata, ...others } = tokenSecret(of, hub, "planted");
    const secret = { ...others, metadata: { ...metadata, uid } };
    const plan = planToken({ token: of, secret, hub, now: created });
    assert.ok(plan.kind === "keep");
    return { step: plan.secret.kind, status: plan.status, counts: isWrittenByHub(secret, of) };
  };

  test("is made again when somebody made it before the hub did, and enrols nobody", () =>
    assert.deepEqual(planned(undefined, "s-1"), {
      ...{ step: "recreate", status: { secretName: "first" }, counts: false },
    }));

  test("is made again when it is not the one that the hub made, and enrols nobody", () =>
    assert.deepEqual(planned({ secretName: "first", secretUID: "s-1" }, "s-2"), {
      ...{ step: "recreate", status: { secretName: "first" }, counts: false },
    }));

  test("of an older hub stays, and is known from then on", () =>
    assert.deepEqual(planned({ secretName: "first" }, "s-1"), {
      step: "none",
      status: { secretName: "first", secretUID: "s-1" },
      counts: true,
    }));

  test("that the hub made stays", () => {
    const status = { secretName: "first", secretUID: "s-1" };
    assert.deepEqual(planned(status, "s-1"), { step: "none", status, counts: true });
  });
});

describe("the value of a registration token", () => {
  test("is found by the UID that it begins with", () => {
    assert.equal(claimedUid(makeTokenValue("u-1")), "u-1");
    for (const wrong of ["", "u-1", "u-1.", ".x"]) assert.equal(claimedUid(wrong), undefined);
  });

  test("is compared as a whole, and nothing equals an empty one", () => {
    const value = makeTokenValue("u-1");

    assert.ok(isSameToken(value, value));
    assert.ok(!isSameToken(makeTokenValue("u-1"), value));
    assert.ok(!isSameToken("", ""));
  });
});
