import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { judgePresence, type PresenceEvidence, type PresenceVerdict } from "./judge-presence.ts";

const evidence: PresenceEvidence = {
  agent: { connected: true, replica: "hub-0", epoch: 3 },
  heldEpoch: undefined,
  endedEpoch: undefined,
  replica: "hub-0",
  isGone: () => false,
  upForMs: 10_000,
  graceMs: 30_000,
};

suite("a Cluster that is recorded as connected", () => {
  const cases: readonly (readonly [string, Partial<PresenceEvidence>, PresenceVerdict])[] = [
    ["is right while its stream is held", { heldEpoch: 3 }, { kind: "right" }],
    [
      "is right while a stream is held whose epoch is not written yet",
      { heldEpoch: 4, endedEpoch: 3 },
      { kind: "right" },
    ],
    ["is gone as soon as its stream has ended", { endedEpoch: 3 }, { kind: "gone" }],
    [
      "may come back when it was connected before this process started",
      {},
      { kind: "wait", ms: 20_000 },
    ],
    ["is gone when it has not come back", { upForMs: 30_000 }, { kind: "gone" }],
    [
      "is left to the replica that holds it",
      { replica: "hub-1", upForMs: 60_000 },
      { kind: "right" },
    ],
    [
      "is gone with its replica",
      { replica: "hub-1", isGone: () => true, upForMs: 60_000 },
      { kind: "gone" },
    ],
    [
      "is right when it is recorded as gone",
      { agent: { connected: false, replica: "hub-0" } },
      { kind: "right" },
    ],
    ["is right when it never came", { agent: undefined }, { kind: "right" }],
  ];
  for (const [what, change, verdict] of cases) {
    test(what, () => assert.deepEqual(judgePresence({ ...evidence, ...change }), verdict));
  }
});
