import assert from "node:assert/strict";
import { gateDecisionObjects } from "@flotilla/shared/api/rollout/admission";
import { describe, test } from "vitest";
import { checkedSince, isNameChecked } from "./checked-names.ts";

const at = (time: string) => `2026-01-01T${time}Z`;
const policy = {
  ...gateDecisionObjects.policy,
  metadata: { ...gateDecisionObjects.policy.metadata, creationTimestamp: at("10:00:00") },
};
const binding = {
  ...gateDecisionObjects.binding,
  metadata: { ...gateDecisionObjects.binding.metadata, creationTimestamp: at("11:00:00") },
};
const bound = (spec: object) => ({ ...binding, spec: { ...binding.spec, ...spec } });

describe("names in decisions are checked", () => {
  test("since the policy and its binding are there", () => {
    assert.equal(checkedSince(policy, binding), Date.parse(at("11:00:00")));
  });

  test("with what the API server fills in", () => {
    const matchResources = { matchPolicy: "Equivalent", namespaceSelector: {}, objectSelector: {} };

    assert.notEqual(checkedSince(policy, bound({ matchResources })), undefined);
  });

  test.for([
    ["the policy is missing", undefined, binding],
    ["the binding is missing", policy, undefined],
    ["the binding is of another policy", policy, bound({ policyName: "other" })],
    ["it only warns", policy, bound({ validationActions: ["Warn", "Audit"] })],
    [
      "it is narrowed to some namespaces",
      policy,
      bound({ matchResources: { namespaceSelector: { matchLabels: { gates: "checked" } } } }),
    ],
    [
      "it is narrowed to some resources",
      policy,
      bound({ matchResources: { resourceRules: [{ apiGroups: ["apps"] }] } }),
    ],
    [
      "errors of the policy are ignored",
      { ...policy, spec: { ...policy.spec, failurePolicy: "Ignore" } },
      binding,
    ],
  ] as const)("but not when %s", ([, given, boundBy]) => {
    assert.equal(checkedSince(given, boundBy), undefined);
  });

  test.for([
    ["of a Gate that is older than the policy", at("10:59:59"), false],
    ["of a Gate of that second", at("11:00:00"), true],
    ["of a younger one", at("12:00:00"), true],
    ["of one without a time", undefined, false],
  ] as const)("%s: %s, %s", ([, creationTimestamp, isChecked]) => {
    const metadata = { name: "board", ...(creationTimestamp && { creationTimestamp }) };

    assert.equal(isNameChecked({ metadata }, checkedSince(policy, binding)), isChecked);
  });

  test("of no Gate where they are not", () => {
    const metadata = { name: "board", creationTimestamp: at("12:00:00") };

    assert.equal(isNameChecked({ metadata }, undefined), false);
  });
});
