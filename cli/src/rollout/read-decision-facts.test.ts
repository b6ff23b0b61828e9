import assert from "node:assert/strict";
import { type Bundle, bundles, type RolloutStrategy } from "@flotilla/shared/api";
import { bundleRollouts, rolloutPolicies } from "@flotilla/shared/api/rollout";
import { KubeStatusError } from "@flotilla/shared/kube/client";
import { createMemoryApiServer, type MemoryApiServer } from "@flotilla/shared/kube/testing";
import { describe, test } from "vitest";
import { readDecisionFacts } from "./read-decision-facts.ts";
import { aGate, aRollout } from "./testing/index.ts";

/** A rollout that waits for a gate of its stage prod. */
function start(rolloutStrategy: RolloutStrategy): MemoryApiServer {
  const rest = createMemoryApiServer();
  const bundle: Bundle = {
    metadata: { namespace: "fleet-default", name: "web" },
    spec: { rolloutStrategy },
  };
  rest.put(bundles, bundle);
  rest.put(bundleRollouts, aRollout({}));
  return rest;
}

function gateOf(rest: MemoryApiServer) {
  const rollout = rest.peek(bundleRollouts, { namespace: "fleet-default", name: "web-7" });
  const uid = rollout?.metadata.uid ?? "";
  return aGate({ spec: { type: "External", rollout: { name: "web-7", uid } } });
}

describe("what a failed gate leads to", () => {
  const prod = { name: "prod" };
  for (const [what, strategy, onFailure] of [
    ["is a halt by default", { stages: [prod] }, "Halt"],
    ["is what the strategy says", { stages: [prod], onFailure: "Rollback" }, "Rollback"],
    [
      "is what its stage says",
      { stages: [{ ...prod, onFailure: "Halt" }], onFailure: "Rollback" },
      "Halt",
    ],
    ["is a halt with Continue", { stages: [prod], onFailure: "Continue" }, "Halt"],
    ["is what the RolloutPolicy says", { policy: "rings" }, "Rollback"],
  ] as const)
    test(what, async () => {
      const rest = start(strategy);
      const spec = { stages: [prod], onFailure: "Rollback" } as const;
      rest.put(rolloutPolicies, { metadata: { namespace: "fleet-default", name: "rings" }, spec });

      const facts = await readDecisionFacts(rest, gateOf(rest), "Failed");

      assert.equal(facts.onFailure, onFailure);
    });
});

test("how many clusters go back is counted where a failure takes it back", async () => {
  const rest = start({ onFailure: "Rollback" });

  const { promoted } = await readDecisionFacts(rest, gateOf(rest), "Failed");

  assert.deepEqual(promoted, { upgraded: 0, installed: 0 });
});

test("who may read nothing but the Gate sees what that says", async () => {
  const rest = start({ onFailure: "Rollback" });
  const gate = gateOf(rest);
  rest.beforeRead = () => {
    throw new KubeStatusError("forbidden", { status: 403, reason: "Forbidden" });
  };

  const facts = await readDecisionFacts(rest, gate, "Failed");

  assert.deepEqual(facts, { gate, rollout: undefined, onFailure: undefined });
});
