import assert from "node:assert/strict";
import type { Secret } from "@flotilla/shared/kube/objects/core-resources.ts";
import { describe, test } from "vitest";
import { type AuthorityRecord, readRecord, trustedBy, withRecord } from "./authority-record.ts";
import { createAuthority, type StoredAuthority } from "./certificate-authority.ts";
import { planRotation, type RotationStep, rotationTimes, takeStep } from "./plan-rotation.ts";

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

describe("the next step of an authority", () => {
  const cases: readonly (readonly [string, AuthorityRecord, number, RotationStep])[] = [
    [
      "is nothing until a fifth of its life is left",
      steady,
      now,
      { kind: "wait", ms: Math.round(endsAt - (endsAt - madeAt + 5 * 60_000) / 5) - now },
    ],
    [
      "is another one when a fifth is left",
      steady,
      endsAt - 729 * day,
      { kind: "introduce", why: `the authority ends at ${new Date(endsAt).toISOString()}` },
    ],
    [
      "is another one when somebody asks",
      { ...steady, request: "b", handled: "a" },
      now,
      { kind: "introduce", why: "somebody asked for it" },
    ],
    [
      "is nothing for a request that was answered",
      { ...steady, request: "a", handled: "a" },
      endsAt - 1000 * day,
      { kind: "wait", ms: 1000 * day - 730 * day - 60_000 },
    ],
    ["is its replacement when it has ended", steady, endsAt, { kind: "replace" }],
    [
      "waits until every agent knows the next one",
      introducing(now),
      now + introduceMs - 1,
      { kind: "wait", ms: 1 },
    ],
    [
      "is the next one once every agent knows it",
      introducing(now),
      now + introduceMs,
      { kind: "switch" },
    ],
    [
      "is the next one at once when this one has ended",
      introducing(endsAt - 1),
      endsAt,
      { kind: "switch" },
    ],
    [
      "waits for the end of what the last one signed",
      switched(now),
      now + retireMs - 1,
      { kind: "wait", ms: 1 },
    ],
    ["forgets the last one then", switched(now), now + retireMs, { kind: "retire" }],
    [
      "leaves a request that comes meanwhile for later",
      { ...switched(now), request: "b" },
      now,
      { kind: "wait", ms: retireMs },
    ],
    [
      "notes when a phase began that nobody can tell of",
      introducing(undefined),
      now,
      { kind: "stamp" },
    ],
    [
      "notes it anew when a clock was wrong by years",
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
  test("trusts both in the middle, and comes through its Secret unchanged", () => {
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
      const after = takeStep(record, plan, { made: next, now: at });
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
