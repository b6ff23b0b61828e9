import assert from "node:assert/strict";
import { test } from "vitest";
import { parseAllDocuments } from "yaml";
import { gateDecisionObjects, renderAdmission } from "./index.ts";

const { policy, binding } = gateDecisionObjects;

test("the policy is put into effect by its binding, and denies", () => {
  assert.equal(binding.spec.policyName, policy.metadata.name);
  assert.deepEqual(binding.spec.validationActions, ["Deny"]);
  assert.equal(policy.spec.failurePolicy, "Fail");
});

test("they are rendered as two documents without template syntax", () => {
  const text = renderAdmission();

  assert.deepEqual(
    parseAllDocuments(text).map((document) => document.toJS()),
    [policy, binding],
  );
  assert.doesNotMatch(text, /\{\{|\}\}/);
});
