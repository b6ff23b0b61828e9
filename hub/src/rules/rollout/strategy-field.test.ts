import assert from "node:assert/strict";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import { policyField, strategyField } from "./strategy-field.ts";

test("a field of a strategy is in the spec of the app, or in that of the RolloutPolicy", () => {
  const field = "stages[0].before[0]";

  assert.equal(strategyField({ spec: {} }, field), `spec.rolloutStrategy.${field}`);
  assert.equal(
    strategyField({ spec: { rolloutStrategy: { policy: "rings" } } }, field),
    `spec.${field} of the RolloutPolicy rings`,
  );
});

describe("a RolloutPolicy is named", () => {
  const metadata = { name: "web", annotations: { "flotilla.dev/rollout-policy": "rings" } };
  const withSpec = (spec: object): KubeObject & { readonly spec: object } => ({ metadata, spec });
  const byField = "spec.rolloutStrategy.policy";
  for (const [where, owner, field] of [
    ["by the field of a Bundle", undefined, byField],
    ["by the field of its app", { metadata: { name: "web" } }, byField],
    ["by the annotation of its app", { metadata }, "the annotation flotilla.dev/rollout-policy"],
    ["by the field of an app with both", withSpec({ rolloutStrategy: {} }), byField],
    [
      "by the annotation beside other fields",
      withSpec({ chart: {} }),
      "the annotation flotilla.dev/rollout-policy",
    ],
  ] as const)
    test(where, () => {
      assert.equal(policyField("rings", owner), field);
    });
});
