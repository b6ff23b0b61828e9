import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { decidePresence, type PresenceDecision, type PresenceInput } from "./presence-rule.ts";

const input: PresenceInput = {
  agent: { connected: true, replica: "hub-0", epoch: 3 },
  connectedEpoch: undefined,
  ended: undefined,
  hasOpenStream: false,
  replica: "hub-0",
  isLeaseHeld: true,
  upForMs: 10_000,
  returnedForMs: 10_000,
  graceMs: 30_000,
  settleMs: 2_500,
};

describe("a Cluster that is recorded as connected", () => {
  const cases: readonly (readonly [string, Partial<PresenceInput>, PresenceDecision])[] = [
    ["is correct while its stream is connected", { connectedEpoch: 3 }, { kind: "correct" }],
    [
      "is correct while the epoch of its connected stream is not in the cache yet",
      { connectedEpoch: 4, ended: { epoch: 3, forMs: 9_000 } },
      { kind: "correct" },
    ],
    [
      "may reconnect when its stream has just ended",
      { ended: { epoch: 3, forMs: 500 } },
      { kind: "wait", ms: 2_000 },
    ],
    [
      "is offline when its stream has ended and it has not reconnected",
      { ended: { epoch: 3, forMs: 2_500 } },
      { kind: "offline" },
    ],
    [
      "is correct while a newer stream is being registered",
      { ended: { epoch: 3, forMs: 9_000 }, hasOpenStream: true },
      { kind: "correct" },
    ],
    [
      "may reconnect when it was connected before this process started",
      {},
      { kind: "wait", ms: 20_000 },
    ],
    [
      "is offline when it has not reconnected",
      { upForMs: 30_000, returnedForMs: 15_000 },
      { kind: "offline" },
    ],
    [
      "may reconnect while others still do",
      { upForMs: 60_000, returnedForMs: 1_000 },
      { kind: "wait", ms: 14_000 },
    ],
    [
      "is offline when others reconnect for ten minutes",
      { upForMs: 600_000, returnedForMs: 0 },
      { kind: "offline" },
    ],
    [
      "may reconnect when its stream has just ended, whose epoch is the floor of this replica",
      { ended: { epoch: 9, forMs: 500 } },
      { kind: "wait", ms: 2_000 },
    ],
    [
      "is not changed when it is connected to another replica",
      { agent: { connected: true, replica: "hub-1", epoch: 3 }, upForMs: 60_000 },
      { kind: "correct" },
    ],
    [
      "is not changed while this replica does not hold its Lease",
      { ended: { epoch: 3, forMs: 9_000 }, isLeaseHeld: false },
      { kind: "wait", ms: 2_500 },
    ],
    ["is correct when the agent never connected", { agent: undefined }, { kind: "correct" }],
  ];
  for (const [what, change, decision] of cases) {
    test(what, () => assert.deepEqual(decidePresence({ ...input, ...change }), decision));
  }
});

describe("a Cluster that is recorded as offline", () => {
  const agent = { connected: false, replica: "hub-0", epoch: 3 };
  const cases: readonly (readonly [string, Partial<PresenceInput>, PresenceDecision])[] = [
    ["is correct without a stream", {}, { kind: "correct" }],
    ["is connected when its stream is", { connectedEpoch: 3 }, { kind: "connected" }],
    ["is correct when another stream is connected", { connectedEpoch: 2 }, { kind: "correct" }],
    [
      "is correct when it was last connected to another replica",
      { connectedEpoch: 3, agent: { ...agent, replica: "hub-1" } },
      { kind: "correct" },
    ],
    [
      "is not changed while this replica does not hold its Lease",
      { connectedEpoch: 3, isLeaseHeld: false },
      { kind: "wait", ms: 2_500 },
    ],
  ];
  for (const [what, change, decision] of cases) {
    test(what, () => assert.deepEqual(decidePresence({ ...input, agent, ...change }), decision));
  }
});
