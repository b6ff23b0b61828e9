import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { auditRelease, type ObservedRelease } from "./audit-release.ts";

const good: ObservedRelease = {
  revisions: [
    { revision: 1, status: "superseded", digest: "a" },
    { revision: 2, status: "deployed", digest: "b" },
  ],
  traces: [{ revision: 1 }, { revision: 2 }],
  desired: 3,
  interruptions: 0,
};
const interrupted = { revision: 3, status: "failed", digest: "c" };
const again = { revision: 4, status: "deployed", digest: "c" };

const cases: readonly (readonly [string, Partial<ObservedRelease>, readonly string[]])[] = [
  ["as many runs as contents, or fewer, are correct", {}, []],
  [
    "an interrupted run may be repeated",
    {
      revisions: [...good.revisions, interrupted, again],
      traces: [...good.traces, { revision: 4 }],
      interruptions: 1,
    },
    [],
  ],
  [
    "a run that was not interrupted may not",
    {
      revisions: [...good.revisions, interrupted, again],
      traces: [...good.traces, { revision: 4 }],
    },
    ["1 runs were repeated, and the agent was ended 0 times"],
  ],
  [
    "an installed content is not installed again, whatever was interrupted",
    {
      revisions: [...good.revisions, { revision: 3, status: "deployed", digest: "b" }],
      traces: [...good.traces, { revision: 3 }],
      interruptions: 5,
    },
    ["revision 3 repeated an installed content"],
  ],
  [
    "a hook that ran twice is two runs",
    { traces: [...good.traces, { revision: 2 }] },
    ["the hook of revision 2 ran 2 times"],
  ],
  [
    "a hook that did not run is an error",
    { traces: [{ revision: 1 }] },
    ["the hook of revision 2 did not run"],
  ],
  [
    "so it is for a superseded revision",
    {
      revisions: [...good.revisions, interrupted, { ...again, digest: "d" }].map((one) =>
        one.revision < 4 ? { ...one, status: "superseded" } : one,
      ),
      traces: [...good.traces, { revision: 4 }],
      desired: 4,
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
      desired: 4,
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
      desired: 5,
    },
    ["the hook of revision 3 did not run"],
  ],
  [
    "a run without a record is one too many",
    { traces: [...good.traces, { revision: 3 }] },
    ["traces of revisions without a record: 3"],
  ],
  [
    "a lock that is not released is an error",
    { revisions: [...good.revisions, { ...interrupted, status: "pending-upgrade" }] },
    ["the last revision is pending-upgrade, not deployed", "revision 3 is still pending-upgrade"],
  ],
  [
    "a missing release is an error",
    { revisions: [], traces: [] },
    ["the last revision is missing, not deployed"],
  ],
  [
    "more contents than desired are an error",
    { desired: 1 },
    ["2 different contents were installed of 1"],
  ],
];

describe("the audit of a release", () => {
  for (const [name, history, expected] of cases) {
    test(name, () => assert.deepEqual(auditRelease({ ...good, ...history }), expected));
  }
});
