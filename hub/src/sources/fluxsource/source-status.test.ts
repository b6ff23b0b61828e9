import assert from "node:assert/strict";
import { findCondition } from "@flotilla/shared/conditions";
import { describe, test } from "vitest";
import { SourceError, type SourceErrorOptions } from "./source-error.ts";
import {
  failed,
  isUsable,
  progressing,
  retrying,
  type SourceObject,
  type SourceResult,
  type SourceStatus,
  succeeded,
} from "./source-status.ts";

const then = "2026-01-01T00:00:00Z";
const now = "2026-01-02T00:00:00Z";
const artifact = { revision: "1", digest: "sha256:01", url: "https://c.example.com", path: "p" };
const result: SourceResult = { artifact, message: "stored artifact: revision '1'" };
const verified = { type: "SourceVerified", status: "True", reason: "Succeeded" } as const;

function source(generation = 1, status?: SourceStatus): SourceObject {
  return {
    metadata: { name: "charts", namespace: "apps", generation },
    ...(status !== undefined && { status }),
  };
}

function shown({ conditions = [] }: SourceStatus): readonly string[] {
  return conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`);
}

const ok = succeeded(source(), undefined, result, then);

describe("a source that was read", () => {
  test("is Ready with its artifact, and nothing else is wrong", () => {
    assert.deepEqual(shown(ok), ["Ready=True Succeeded", "ArtifactInStorage=True Succeeded"]);
    assert.deepEqual(ok.artifact, { ...artifact, lastUpdateTime: then });
    assert.equal(ok.observedGeneration, 1);
  });

  test("keeps the time of an artifact that is the same", () => {
    const next = succeeded(source(2), ok, result, now);
    assert.equal(next.artifact?.lastUpdateTime, then);
    assert.equal(next.observedGeneration, 2);
  });

  for (const change of [{ revision: "2" }, { digest: "sha256:02" }])
    test(`has a new time with another ${Object.keys(change).join()}`, () => {
      const next = succeeded(
        source(),
        ok,
        { ...result, artifact: { ...artifact, ...change } },
        now,
      );
      assert.equal(next.artifact?.lastUpdateTime, now);
    });

  test("has no condition of a failure any more, and the fields of its kind", () => {
    const broken = failed(source(), ok, new SourceError("Failed", "x"), { now: then });
    const fields = { url: "https://c.example.com", observedIgnore: undefined };
    const message = "verified signature";
    const next = succeeded(
      source(),
      { ...broken, ...{ observedIgnore: "*.md" } },
      { ...result, fields, conditions: [{ ...verified, message }] },
      now,
    );
    assert.deepEqual(shown(next), [
      "Ready=True Succeeded",
      "ArtifactInStorage=True Succeeded",
      "SourceVerified=True Succeeded",
    ]);
    assert.equal(Reflect.get(next, "url"), "https://c.example.com");
    assert.equal(Reflect.get(next, "observedIgnore"), undefined);
  });
});

describe("a source that could not be read", () => {
  const rows: readonly (readonly [
    what: string,
    before: SourceStatus | undefined,
    options: SourceErrorOptions,
    expected: readonly string[],
  ])[] = [
    [
      "is Reconciling and retried",
      undefined,
      {},
      ["Reconciling=True ProgressingWithRetry", "Ready=False Why", "FetchFailed=True Why"],
    ],
    [
      "is Stalled when nothing but a change helps",
      undefined,
      { stalls: true },
      ["Stalled=True Why", "Ready=False Why", "FetchFailed=True Why"],
    ],
    [
      "keeps the artifact that it had",
      ok,
      {},
      [
        "Reconciling=True ProgressingWithRetry",
        "Ready=False Why",
        "ArtifactInStorage=True Succeeded",
        "FetchFailed=True Why",
      ],
    ],
    [
      "has the condition BuildFailed of a chart that cannot be made",
      undefined,
      { condition: "BuildFailed", stalls: true },
      ["Stalled=True Why", "Ready=False Why", "BuildFailed=True Why"],
    ],
    [
      "has the condition IncludeUnavailable of a missing include",
      undefined,
      { condition: "IncludeUnavailable" },
      ["Reconciling=True ProgressingWithRetry", "Ready=False Why", "IncludeUnavailable=True Why"],
    ],
    [
      "has SourceVerified=False of an invalid signature, and no FetchFailed",
      undefined,
      { condition: "SourceVerified" },
      ["Reconciling=True ProgressingWithRetry", "Ready=False Why", "SourceVerified=False Why"],
    ],
    [
      "has SourceVerified=False besides when a chart could not be verified",
      undefined,
      { condition: "BuildFailed", isUnverified: true },
      [
        "Reconciling=True ProgressingWithRetry",
        "Ready=False Why",
        "BuildFailed=True Why",
        "SourceVerified=False VerificationError",
      ],
    ],
    [
      "keeps what was known of the signature while it cannot be fetched",
      succeeded(
        source(),
        undefined,
        { ...result, conditions: [{ ...verified, message: "" }] },
        then,
      ),
      {},
      [
        "Reconciling=True ProgressingWithRetry",
        "Ready=False Why",
        "ArtifactInStorage=True Succeeded",
        "FetchFailed=True Why",
        "SourceVerified=True Succeeded",
      ],
    ],
  ];
  test.each(rows)("%s", (_, before, options, expected) => {
    const next = failed(source(), before, new SourceError("Why", "x", options), { now });
    assert.deepEqual(shown(next), expected);
    assert.deepEqual(next.artifact, before?.artifact);
  });

  test("says when it is retried, in whole seconds", () => {
    const error = new SourceError("Failed", "GET https://c: connection refused");
    const next = failed(source(), ok, error, { now, retryAt: "2026-01-02T00:00:03.750Z" });
    const message = "GET https://c: connection refused; retrying at 2026-01-02T00:00:03Z";
    assert.equal(findCondition(next.conditions, "Ready")?.message, message);
  });

  test("has observed its generation only when it is Stalled", () => {
    const generationAfter = (stalls: boolean) =>
      failed(source(2), ok, new SourceError("Failed", "x", { stalls }), { now }).observedGeneration;
    assert.equal(generationAfter(false), 1);
    assert.equal(generationAfter(true), 2);
  });
});

describe("an attempt that takes long", () => {
  const startedAtMs = Date.parse("2026-01-03T00:00:00.900Z");
  const [before, since] = [
    "x; retrying at 2026-01-02T00:00:01Z",
    "x; trying again since 2026-01-03T00:00:00Z",
  ];
  const failedWith = (options: SourceErrorOptions, reason = "Why", known: SourceStatus = ok) => ({
    ...failed(source(), known, new SourceError(reason, "x", options), {
      now,
      ...(options.stalls !== true && { retryAt: "2026-01-02T00:00:01Z" }),
    }),
    polling: { error: "x" },
  });
  const unsigned = failedWith({ condition: "SourceVerified" }, "InvalidCommitSignature");
  const rows: readonly (readonly [what: string, status: SourceStatus, types: readonly string[]])[] =
    [
      ["a failure", failedWith({}), ["Reconciling", "Ready", "FetchFailed"]],
      ["one that stalls", failedWith({ stalls: true }), ["Stalled", "Ready", "FetchFailed"]],
      ["a signature", unsigned, ["Reconciling", "Ready", "SourceVerified"]],
      [
        "the signature of a chart",
        failedWith({ condition: "BuildFailed", isUnverified: true }, "ChartVerificationError"),
        ["Reconciling", "Ready", "BuildFailed", "SourceVerified"],
      ],
      [
        "a failure, and not the signature that was invalid before",
        failedWith({}, "Why", unsigned),
        ["Reconciling", "Ready", "FetchFailed"],
      ],
      [
        "a failure of an earlier generation",
        progressing(source(2), failedWith({}), now),
        ["Ready", "FetchFailed"],
      ],
    ];
  test.each(rows)("after %s is named by its conditions alone", (_, status, types) => {
    const next = retrying(status, startedAtMs);

    const changed = next.conditions?.filter(({ message }) => message === since) ?? [];
    assert.deepEqual(
      changed.map(({ type }) => type),
      types,
    );
    const restored = next.conditions?.map((each) =>
      types.includes(each.type) ? { ...each, message: messageOf(status, each.type) } : each,
    );
    assert.deepEqual({ ...next, conditions: restored }, status);
  });

  function messageOf({ conditions }: SourceStatus, type: string): string {
    const { message = "" } = findCondition(conditions, type) ?? {};
    assert.ok([before, "x"].includes(message));
    return message;
  }

  test("is not named after a success, or where the last error is not known", () => {
    const { polling: _, ...unknown } = failedWith({});
    for (const status of [ok, { ...ok, polling: { error: "x" } }, unknown, {}])
      assert.equal(retrying(status, startedAtMs), status);
  });
});

describe("what a source had last is", () => {
  const generationOne = source(1, ok);
  const failure = new SourceError("Failed", "x");
  const stalled = new SourceError("Failed", "x", { stalls: true });
  const rows: readonly (readonly [what: string, object: SourceObject, expected: boolean])[] = [
    ["used while it is Ready", generationOne, true],
    ["not used before it was read", source(), false],
    ["used while a later attempt fails", source(1, failed(source(), ok, failure, { now })), true],
    ["not used while it is Stalled", source(1, failed(source(), ok, stalled, { now })), false],
    ["not used for another generation", source(2, ok), false],
    [
      "not used while another generation is read",
      source(2, progressing(source(2, ok), ok, now)),
      false,
    ],
    ["not used without an artifact", source(1, { observedGeneration: 1 }), false],
  ];
  test.each(rows)("%s", (_, object, expected) => {
    assert.equal(isUsable(object), expected);
  });
});

test("a source that is read for a new generation is Reconciling, and Ready stays what it was", () => {
  for (const before of [ok, failed(source(), ok, new SourceError("Failed", "x"), { now })]) {
    const next = progressing(source(2, before), before, "2026-01-02T00:00:00Z");

    assert.equal(shown(next)[0], "Reconciling=True Progressing");
    assert.deepEqual(
      next.conditions?.find(({ type }) => type === "Ready"),
      before.conditions?.find(({ type }) => type === "Ready"),
    );
  }
});

test("a source that is read for the first time is Reconciling, and Ready is Unknown", () => {
  const next = progressing(source(), undefined, now);
  assert.deepEqual(shown(next), ["Reconciling=True Progressing", "Ready=Unknown Progressing"]);
  assert.equal(next.observedGeneration, undefined);
});
