import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { type AgentState, type Readiness, readinessOf } from "./readiness.ts";

const state: AgentState = {
  holder: undefined,
  isLeading: false,
  identity: "one",
  isConnected: false,
  connectionError: "",
};
const ready = (message: string): Readiness => ({ isReady: true, message });
const notReady = (message: string): Readiness => ({ isReady: false, message });
const waits = notReady("waiting for the Lease flotilla-agent/flotilla-agent");

describe("an agent", () => {
  const cases: readonly (readonly [string, Partial<AgentState>, Readiness])[] = [
    ["that has just started is not ready", {}, waits],
    [
      "is a ready standby while another one is active",
      { holder: "two" },
      ready("standby: two is active"),
    ],
    ["that has lost the Lease is not ready while nobody else has it", { holder: "one" }, waits],
    [
      "that is active is ready once it is connected",
      { holder: "one", isLeading: true, isConnected: true },
      ready("ok"),
    ],
    [
      "that is active and not connected says why",
      { holder: "one", isLeading: true, connectionError: "refused" },
      notReady("not connected to the hub: refused"),
    ],
  ];
  for (const [what, change, expected] of cases)
    test(what, () => assert.deepEqual(readinessOf({ ...state, ...change }), expected));
});
