import assert from "node:assert/strict";
import type { Secret } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import { createAuthority, type StoredAuthority } from "./certificate-authority.ts";
import { planRotation, type RotationStep, rotationTimes, takeStep } from "./plan-rotation.ts";
import { type AuthorityRecord, readRecord, trustedBy, withRecord } from "./record.ts";

const day = 24 * 3_600_000;
const madeAt = Date.UTC(2026, 0, 1);
const [old, next] = [await createAuthority(madeAt), await createAuthority(madeAt)];
const endsAt = madeAt + 3650 * day;
const now = madeAt + day;
const { introduceMs, retireMs } = rotationTimes(day);

const steady: AuthorityRecord = {
  signing: old,
  phase: { kind: "steady" },
  request: undefined,
  handled: undefined,
  lifetimeMs: day,
};
const introducing = (since: number | undefined): AuthorityRecord => ({
  ...steady,
  phase: { kind: "introducing", next, since },
});
const switched = (since: number | undefined): AuthorityRecord => ({
  ...steady,
  signing: next,
  phase: { kind: "switched", previousPem: old.certificatePem, since },
});

describe("the next step of a rotation", () => {
  const cases: readonly (readonly [string, AuthorityRecord, number, RotationStep])[] = [
    [
      "is nothing until a fifth of the authority's life is left",
      steady,
      now,
      { kind: "wait", ms: Math.round(endsAt - (endsAt - madeAt + 5 * 60_000) / 5) - now },
    ],
    [
      "is the introduction of the next one when a fifth is left",
      steady,
      endsAt - 729 * day,
      { kind: "introduce", why: `the authority expires at ${new Date(endsAt).toISOString()}` },
    ],
    [
      "is the introduction when it is requested",
      { ...steady, request: "b", handled: "a" },
      now,
      { kind: "introduce", why: "requested" },
    ],
    [
      "is nothing for a handled request",
      { ...steady, request: "a", handled: "a" },
      endsAt - 1000 * day,
      { kind: "wait", ms: 1000 * day - 730 * day - 60_000 },
    ],
    ["is a replacement of the authority when it has expired", steady, endsAt, { kind: "replace" }],
    [
      "waits until every agent trusts the next one",
      introducing(now),
      now + introduceMs - 1,
      { kind: "wait", ms: 1 },
    ],
    [
      "is the switch once every agent trusts the next one",
      introducing(now),
      now + introduceMs,
      { kind: "switch" },
    ],
    [
      "is the switch at once when the current one has expired",
      introducing(endsAt - 1),
      endsAt,
      { kind: "switch" },
    ],
    [
      "waits until certificates of the previous one have expired",
      switched(now),
      now + retireMs - 1,
      { kind: "wait", ms: 1 },
    ],
    ["retires the previous one then", switched(now), now + retireMs, { kind: "retire" }],
    [
      "leaves a request during a rotation for later",
      { ...switched(now), request: "b" },
      now,
      { kind: "wait", ms: retireMs },
    ],
    ["stamps a phase without a start time", introducing(undefined), now, { kind: "stamp" }],
    [
      "records it again when a clock was wrong by years",
      switched(now + 1000 * day),
      now,
      { kind: "stamp" },
    ],
    [
      "waits for the longest certificate of any replica",
      { ...introducing(now), lifetimeMs: 10 * day },
      now + introduceMs,
      { kind: "wait", ms: rotationTimes(10 * day).introduceMs - introduceMs },
    ],
  ];
  for (const [what, record, at, expected] of cases) {
    test(what, () =>
      assert.deepEqual(planRotation({ record, now: at, lifetimeMs: day }), expected),
    );
  }
});

describe("a whole rotation", () => {
  test("trusts both in between, and is unchanged by a round trip through its Secret", () => {
    const secret: Secret = {
      metadata: { name: "flotilla-ca", annotations: { mine: "stays" } },
      type: "kubernetes.io/tls",
    };
    let stored = withRecord(secret, { ...steady, request: "please" });
    const trusted: string[] = [];
    const signs: StoredAuthority[] = [];
    let at = now;
    for (let step = 0; step < 3; step += 1) {
      const record = readRecord(stored);
      const plan = planRotation({ record, now: at, lifetimeMs: day });
      assert.notEqual(plan.kind, "wait");
      if (plan.kind === "wait") return;
      const after = takeStep(record, plan, { created: next, now: at });
      stored = withRecord(stored, after);
      assert.deepEqual(readRecord(stored), after);
      trusted.push(trustedBy(after));
      signs.push(after.signing);
      at += introduceMs;
    }

    const both = `${old.certificatePem.trim()}\n${next.certificatePem.trim()}\n`;
    assert.deepEqual(trusted, [both, both, next.certificatePem]);
    assert.deepEqual(signs, [old, next, next]);
    assert.equal(stored.metadata.annotations?.["mine"], "stays");
    assert.deepEqual(Object.keys(stored.data ?? {}), ["tls.crt", "tls.key"]);
    const end = planRotation({ record: readRecord(stored), now: at, lifetimeMs: day });
    assert.equal(end.kind, "wait", "the request is answered");
  });
});
