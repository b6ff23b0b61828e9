import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { auditRelease, type ReleaseHistory } from "./audit-release.ts";

const good: ReleaseHistory = {
  revisions: [
    { revision: 1, status: "superseded", digest: "a" },
    { revision: 2, status: "deployed", digest: "b" },
  ],
  traces: [{ revision: 1 }, { revision: 2 }],
  wanted: 3,
  interruptions: 0,
};
const cutOff = { revision: 3, status: "failed", digest: "c" };
const again = { revision: 4, status: "deployed", digest: "c" };

const cases: readonly (readonly [string, Partial<ReleaseHistory>, readonly string[]])[] = [
  ["as many runs as contents are right, and fewer", {}, []],
  [
    "a run that was cut off may be begun again",
    {
      revisions: [...good.revisions, cutOff, again],
      traces: [...good.traces, { revision: 4 }],
      interruptions: 1,
    },
    [],
  ],
  [
    "a run that nobody cut off may not",
    {
      revisions: [...good.revisions, cutOff, again],
      traces: [...good.traces, { revision: 4 }],
    },
    ["1 runs were begun again, and the agent was ended 0 times"],
  ],
  [
    "what succeeded is not installed once more, whatever was cut off",
    {
      revisions: [...good.revisions, { revision: 3, status: "deployed", digest: "b" }],
      traces: [...good.traces, { revision: 3 }],
      interruptions: 5,
    },
    ["revision 3 installed the same once more"],
  ],
  [
    "a hook that ran twice is two runs",
    { traces: [...good.traces, { revision: 2 }] },
    ["the hook of revision 2 ran 2 times"],
  ],
  [
    "a hook that did not run is a release that was lost",
    { traces: [{ revision: 1 }] },
    ["the hook of revision 2 did not run"],
  ],
  [
    "that is so also where Helm has superseded it",
    {
      revisions: [...good.revisions, cutOff, { ...again, digest: "d" }].map((one) =>
        one.revision < 4 ? { ...one, status: "superseded" } : one,
      ),
      traces: [...good.traces, { revision: 4 }],
      wanted: 4,
    },
    ["the hook of revision 3 did not run"],
  ],
  [
    "but Helm supersedes what has failed where nothing else is deployed, as after a run that was ended at its very end",
    {
      revisions: [
        { revision: 1, status: "superseded", digest: "a" },
        { revision: 2, status: "failed", digest: "b" },
        { revision: 3, status: "superseded", digest: "c" },
        { revision: 4, status: "deployed", digest: "d" },
      ],
      traces: [{ revision: 1 }, { revision: 2 }, { revision: 4 }],
      wanted: 4,
    },
    [],
  ],
  [
    "but not where what came next did not succeed either",
    {
      revisions: [
        { revision: 1, status: "superseded", digest: "a" },
        { revision: 2, status: "failed", digest: "b" },
        { revision: 3, status: "superseded", digest: "c" },
        { revision: 4, status: "failed", digest: "d" },
        { revision: 5, status: "deployed", digest: "e" },
      ],
      traces: [{ revision: 1 }, { revision: 2 }, { revision: 5 }],
      wanted: 5,
    },
    ["the hook of revision 3 did not run"],
  ],
  [
    "a run without a record is one too many",
    { traces: [...good.traces, { revision: 3 }] },
    ["traces of revisions without a record: 3"],
  ],
  [
    "a lock that nobody takes off is told",
    { revisions: [...good.revisions, { ...cutOff, status: "pending-upgrade" }] },
    ["the last revision is pending-upgrade, not deployed", "revision 3 is still pending-upgrade"],
  ],
  [
    "what is not there is told",
    { revisions: [], traces: [] },
    ["the last revision is not there, not deployed"],
  ],
  [
    "more contents than were wanted are told",
    { wanted: 1 },
    ["2 different contents were installed of 1"],
  ],
];

describe("the audit of a release", () => {
  for (const [name, history, expected] of cases) {
    test(name, () => assert.deepEqual(auditRelease({ ...good, ...history }), expected));
  }
});
