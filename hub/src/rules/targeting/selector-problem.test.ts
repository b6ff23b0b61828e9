import assert from "node:assert/strict";
import type { LabelSelector } from "@flotilla/shared/api";
import { test } from "vitest";
import { selectorProblem } from "./selector-problem.ts";

type Requirement = NonNullable<LabelSelector["matchExpressions"]>[number];

function one(key: string, operator: Requirement["operator"], values?: readonly string[]) {
  return { matchExpressions: [{ key, operator, ...(values !== undefined && { values }) }] };
}

const good: readonly (readonly [what: string, selector: LabelSelector])[] = [
  ["an empty selector", {}],
  ["nulls", { matchLabels: null, matchExpressions: null }],
  ["a label with a prefix", { matchLabels: { "example.com/Team_1": "a.b-c" } }],
  ["an empty value", { matchLabels: { env: "" } }],
  ["values to compare with", one("env", "In", ["prod", "dev"])],
  ["the presence of a label", one("env", "Exists")],
  ["the absence of a label", one("env", "DoesNotExist", [])],
];
for (const [what, selector] of good) {
  test(`${what} is valid`, () => {
    assert.equal(selectorProblem(selector), undefined);
  });
}

// A CRD of Fleet accepts any operator.
const misspelt = "Inn" as Requirement["operator"];
const bad: readonly (readonly [what: string, selector: LabelSelector, message: RegExp])[] = [
  [
    "an unknown operator",
    one("env", misspelt, ["prod"]),
    /^the operator "Inn" for the label env is none of In, NotIn, Exists, DoesNotExist$/,
  ],
  ["no values to compare with", one("env", "In"), /^In for the label env has no values/],
  ["values beside Exists", one("env", "Exists", ["a"]), /^Exists for the label env takes no/],
  ["a label without a name", one("", "Exists"), /^"" cannot be the name of a label$/],
  ["a name with spaces", { matchLabels: { "my env": "a" } }, /^"my env" cannot be the name/],
  ["a prefix in capitals", { matchLabels: { "Example.com/env": "a" } }, /cannot be the name/],
  ["two prefixes", { matchLabels: { "a/b/c": "a" } }, /cannot be the name/],
  ["a name that is too long", { matchLabels: { ["a".repeat(64)]: "a" } }, /cannot be the name/],
  ["a value with a slash", { matchLabels: { env: "a/b" } }, /^"a\/b" cannot be the value of/],
  ["such a value among others", one("env", "NotIn", ["a", "b c"]), /^"b c" cannot be the value/],
];
for (const [what, selector, message] of bad) {
  test(`${what} is reported`, () => {
    assert.match(selectorProblem(selector) ?? "", message);
  });
}
