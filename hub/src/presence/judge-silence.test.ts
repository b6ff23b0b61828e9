import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { judgeSilence, type Silence, type SilenceEvidence } from "./judge-silence.ts";

const times = { renewEveryMs: 7_000, goneAfterMs: 25_000 };
const evidence: SilenceEvidence = {
  now: 100_000,
  heardAt: 95_000,
  echoAt: 98_000,
  listeningSince: 0,
};

describe("a replica", () => {
  const cases: readonly (readonly [string, Partial<SilenceEvidence>, Silence])[] = [
    ["that was heard of may be there", {}, { kind: "unknown", waitMs: 20_000 }],
    [
      "that was not heard of for as long as its Lease says is gone",
      { heardAt: 75_000 },
      { kind: "gone", forMs: 25_000 },
    ],
    [
      "that was not heard of for a moment less is not",
      { heardAt: 75_001 },
      { kind: "unknown", waitMs: 1 },
    ],
    [
      "that nobody ever heard of has as long from when we began to listen",
      { heardAt: undefined, listeningSince: 90_000 },
      { kind: "unknown", waitMs: 15_000 },
    ],
    [
      "that nobody ever heard of is gone after that",
      { heardAt: undefined, listeningSince: 70_000 },
      { kind: "gone", forMs: 30_000 },
    ],
    [
      "has the whole time again from when we could hear again",
      { heardAt: 10_000, listeningSince: 99_000 },
      { kind: "unknown", waitMs: 24_000 },
    ],
    [
      "is not judged while we do not hear even ourselves",
      { heardAt: 10_000, echoAt: 85_000 },
      { kind: "unknown", waitMs: 7_000 },
    ],
    [
      "is not judged before we have heard ourselves",
      { heardAt: 10_000, echoAt: undefined, listeningSince: undefined },
      { kind: "unknown", waitMs: 7_000 },
    ],
  ];
  for (const [what, change, silence] of cases) {
    test(what, () => assert.deepEqual(judgeSilence({ ...evidence, ...change }, times), silence));
  }
});
