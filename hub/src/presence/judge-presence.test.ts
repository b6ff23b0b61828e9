import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { judgePresence, type PresenceEvidence, type PresenceVerdict } from "./judge-presence.ts";

const evidence: PresenceEvidence = {
  agent: { connected: true, replica: "hub-0", epoch: 3 },
  heldEpoch: undefined,
  ended: undefined,
  isComing: false,
  replica: "hub-0",
  isCountedOn: true,
  upForMs: 10_000,
  graceMs: 30_000,
  settleMs: 2_500,
};

describe("a Cluster that is recorded as connected", () => {
  const cases: readonly (readonly [string, Partial<PresenceEvidence>, PresenceVerdict])[] = [
    ["is right while its stream is held", { heldEpoch: 3 }, { kind: "right" }],
    [
      "is right while a stream is held whose epoch is not written yet",
      { heldEpoch: 4, ended: { epoch: 3, forMs: 9_000 } },
      { kind: "right" },
    ],
    [
      "may come back when its stream has just ended",
      { ended: { epoch: 3, forMs: 500 } },
      { kind: "wait", ms: 2_000 },
    ],
    [
      "is gone when its stream has ended and it has not come back",
      { ended: { epoch: 3, forMs: 2_500 } },
      { kind: "gone" },
    ],
    [
      "is right while a newer stream of it begins",
      { ended: { epoch: 3, forMs: 9_000 }, isComing: true },
      { kind: "right" },
    ],
    [
      "may come back when it was connected before this process started",
      {},
      { kind: "wait", ms: 20_000 },
    ],
    ["is gone when it has not come back", { upForMs: 30_000 }, { kind: "gone" }],
    [
      "is left to the replica that holds it",
      { agent: { connected: true, replica: "hub-1", epoch: 3 }, upForMs: 60_000 },
      { kind: "right" },
    ],
    [
      "is left to whoever leads while nobody counts on this replica",
      { ended: { epoch: 3, forMs: 9_000 }, isCountedOn: false },
      { kind: "wait", ms: 2_500 },
    ],
    ["is right when it never came", { agent: undefined }, { kind: "right" }],
  ];
  for (const [what, change, verdict] of cases) {
    test(what, () => assert.deepEqual(judgePresence({ ...evidence, ...change }), verdict));
  }
});

describe("a Cluster that is recorded as gone", () => {
  const agent = { connected: false, replica: "hub-0", epoch: 3 };
  const cases: readonly (readonly [string, Partial<PresenceEvidence>, PresenceVerdict])[] = [
    ["is right without its stream", {}, { kind: "right" }],
    ["is there when its stream is held", { heldEpoch: 3 }, { kind: "there" }],
    ["is right when what is held is another stream", { heldEpoch: 2 }, { kind: "right" }],
    [
      "is right when another replica held it last",
      { heldEpoch: 3, agent: { ...agent, replica: "hub-1" } },
      { kind: "right" },
    ],
    [
      "stays so while nobody counts on this replica",
      { heldEpoch: 3, isCountedOn: false },
      { kind: "wait", ms: 2_500 },
    ],
  ];
  for (const [what, change, verdict] of cases) {
    test(what, () => assert.deepEqual(judgePresence({ ...evidence, agent, ...change }), verdict));
  }
});
