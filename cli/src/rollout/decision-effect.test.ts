import assert from "node:assert/strict";
import type { Gate } from "@flotilla/shared/api/rollout";
import { describe, test } from "vitest";
import { type DecisionFacts, decisionEffect } from "./decision-effect.ts";
import { aGate, aRollout, aStage } from "./testing/index.ts";

const counts = { offline: 0, paused: 0, skipped: 0, offSchedule: 0, brokenBefore: 0 };
const clusters = { total: 500, done: 85, inFlight: 2, failed: 1, pending: 412, ...counts };
const record = {
  name: "load-test",
  when: "After",
  type: "External",
  result: "Waiting",
  gate: "web-7-canary-load-test",
  uid: "l",
  digest: "sha256:d",
  startedAt: "2026-12-01T10:00:00Z",
} as const;

function aSmokeGate(spec: Partial<Gate["spec"]> = {}): Gate {
  return aGate({
    spec: { type: "External", stage: "canary", gate: "smoke", when: "After", ...spec },
  });
}

function factsWith(facts: Partial<DecisionFacts> = {}): DecisionFacts {
  const stages = [
    aStage({ name: "canary", total: 88, done: 85, gates: [{ ...record, name: "smoke" }] }),
    aStage({ name: "prod", total: 412 }),
  ];
  const rollout = aRollout({ status: { phase: "Waiting", clusters, stages } });
  return { gate: aSmokeGate(), rollout, onFailure: "Halt", ...facts };
}

const gate = "gate web-7-prod-change-board (external smoke of stage canary)";
const numbers = "85 of 500 clusters have it, 2 in flight end by themselves, 412 wait";

describe("a decision says in numbers what follows:", () => {
  const twoGates = aRollout({
    status: {
      phase: "Halted",
      clusters,
      stages: [aStage({ name: "canary", gates: [{ ...record, name: "smoke" }, record] })],
    },
  });
  for (const [what, result, facts, says] of [
    [
      "a gate after a stage",
      "Passed",
      factsWith(),
      `passes ${gate} of rollout web-7 (version 1.4.2): stage canary is completed; stage prod is next, and 412 of 500 clusters are left`,
    ],
    [
      "a gate before a stage",
      "Passed",
      factsWith({ gate: aSmokeGate({ when: "Before", clusters: { count: 1, first: ["a/b"] } }) }),
      `passes ${gate} of rollout web-7 (version 1.4.2): 1 cluster of stage canary gets it, within its limits`,
    ],
    [
      "one of two gates of the last stage, of a rollout that is halted",
      "Passed",
      factsWith({ rollout: twoGates }),
      `passes ${gate} of rollout web-7 (version 1.4.2): stage canary is completed once load-test has passed, too; it is the last one; it is halted, and this counts once it goes on`,
    ],
    [
      "a failure that halts",
      "Failed",
      factsWith(),
      `fails ${gate}, which halts rollout web-7 (version 1.4.2): ${numbers} until it is resumed`,
    ],
    [
      "a failure that takes it back",
      "Failed",
      factsWith({ onFailure: "Rollback", promoted: { upgraded: 80, installed: 8 } }),
      `fails ${gate}, which takes rollout web-7 (version 1.4.2) back, within its limits and without gates: 80 clusters get back what they had before, 8 keep it, because they had nothing; 412 of 500 were not changed by it`,
    ],
    [
      "a failure where the strategy may not be read",
      "Failed",
      factsWith({ onFailure: undefined }),
      `fails ${gate}, which halts rollout web-7 (version 1.4.2): ${numbers} until it is resumed, or takes it back where onFailure says so`,
    ],
    [
      "a failure where the rollout may not be read",
      "Failed",
      factsWith({ rollout: undefined }),
      `fails ${gate}, which halts rollout web-7 or takes it back: 412 clusters of the stage do not have it`,
    ],
  ] as const)
    test(what, () => {
      assert.equal(decisionEffect(result, facts), says);
    });
});
