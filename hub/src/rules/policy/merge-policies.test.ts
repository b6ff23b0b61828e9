import assert from "node:assert/strict";
import type { Policy } from "@flotilla/shared/api";
import { test } from "vitest";
import { aPolicy, aRelease } from "../../testing/index.ts";
import { withDefaults } from "./defaults.ts";
import { forbidsNamespaces, type MergedPolicy, mergePolicies } from "./merge-policies.ts";

const nothing: MergedPolicy = {
  namespace: "",
  names: [],
  requireServiceAccount: false,
  allowedServiceAccounts: [],
  allowNamespaceCreation: false,
  defaultServiceAccount: "",
  defaultHelmSecretName: "",
  allowedHelmSecretNames: [],
  allowedDownstreamSecretNames: [],
  allowedDownstreamConfigMapNames: [],
  allowedHelmRepoPatterns: [],
  allowedChartPatterns: [],
  allowedGitRefs: [],
  requireVerification: false,
  allowSubmodules: false,
  requiredGates: [],
};

test("without a Policy nothing is restricted or defaulted", () => {
  assert.deepEqual(mergePolicies([]), nothing);
});

test("an empty Policy restricts nothing, also with nulls and empty strings", () => {
  const policy = aPolicy("a", {
    allowedServiceAccounts: null,
    helmOp: { defaultServiceAccount: "", allowedChartPatterns: null },
  });

  assert.deepEqual(mergePolicies([policy]), {
    ...nothing,
    namespace: "fleet-default",
    names: ["a"],
  });
});

test("Booleans are ORed, lists are joined, and the first default by name applies", () => {
  const a = aPolicy("a", {
    requireServiceAccount: true,
    allowedServiceAccounts: ["x", "y"],
    helmOp: { defaultHelmSecretName: "of-a", allowedHelmRepoPatterns: ["a.*"] },
  });
  const b = aPolicy("b", {
    requireServiceAccount: false,
    allowNamespaceCreation: true,
    allowedServiceAccounts: ["y", "z"],
    helmOp: {
      defaultServiceAccount: "of-b",
      defaultHelmSecretName: "of-b",
      allowedHelmRepoPatterns: ["b.*"],
      allowedHelmSecretNames: ["s"],
      allowedChartPatterns: ["c"],
    },
  });
  const merged: MergedPolicy = {
    namespace: "fleet-default",
    names: ["a", "b"],
    requireServiceAccount: true,
    allowNamespaceCreation: true,
    allowedServiceAccounts: ["x", "y", "z"],
    defaultServiceAccount: "of-b",
    defaultHelmSecretName: "of-a",
    allowedHelmSecretNames: ["s"],
    allowedDownstreamSecretNames: ["s"],
    allowedDownstreamConfigMapNames: [],
    allowedHelmRepoPatterns: ["a.*", "b.*"],
    allowedChartPatterns: ["c"],
    allowedGitRefs: [],
    requireVerification: false,
    allowSubmodules: false,
    requiredGates: [],
  };

  for (const order of [
    [a, b],
    [b, a],
  ])
    assert.deepEqual(mergePolicies(order), merged);
});

test("the GitRepo fields of a Policy do not apply to a HelmOp", () => {
  const policy = aPolicy("a", { gitRepo: { defaultServiceAccount: "git" } });

  assert.equal(mergePolicies([policy]).defaultServiceAccount, "");
});

const namespaces: readonly (readonly [what: string, fields: Partial<Policy>, forbids: boolean])[] =
  [
    ["nothing is required", {}, false],
    ["a ServiceAccount is required", { requireServiceAccount: true }, true],
    [
      "one is required and namespaces may be created",
      { requireServiceAccount: true, allowNamespaceCreation: true },
      false,
    ],
  ];
for (const [what, fields, forbids] of namespaces) {
  test(`namespaces are ${forbids ? "not " : ""}created when ${what}`, () => {
    assert.equal(forbidsNamespaces([mergePolicies([aPolicy("a", fields)])]), forbids);
  });
}

test("one namespace whose Policies forbid the creation of namespaces suffices", () => {
  const requiring = aPolicy("a", { requireServiceAccount: true });
  const allowing = aPolicy("b", { allowNamespaceCreation: true });

  assert.equal(forbidsNamespaces([mergePolicies([requiring]), mergePolicies([allowing])]), true);
  assert.equal(forbidsNamespaces([mergePolicies([requiring, allowing])]), false);
});

test("defaults fill empty fields, and the release is not modified", () => {
  const policy = mergePolicies([
    aPolicy("a", { helmOp: { defaultServiceAccount: "deployer", defaultHelmSecretName: "login" } }),
  ]);
  const unset = aRelease({ serviceAccount: "" });
  const withOwnFields = aRelease({ serviceAccount: "mine", helmSecretName: "my-login" });

  const { spec, source } = withDefaults(policy, unset);

  assert.deepEqual([spec.serviceAccount, source.secretName], ["deployer", "login"]);
  assert.equal(unset.spec.serviceAccount, "");
  assert.equal(withDefaults(policy, withOwnFields), withOwnFields);
  assert.equal(withDefaults(mergePolicies([]), unset), unset);
});
