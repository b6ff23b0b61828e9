/** What Policies that require gates accept, by the clusters that a strategy reaches. */
import assert from "node:assert/strict";
import type { Policy, RolloutStrategy } from "@flotilla/shared/api";
import { describe, test } from "vitest";
import { aPolicy, workspace } from "../../testing/index.ts";
import { assignStages, type StagedCluster, stagesOf } from "../rollout/stages.ts";
import { type MergedPolicy, mergePolicies } from "./merge-policies.ts";
import { isProtected, requiredGateViolation, requiresGates } from "./required-gates.ts";

const prod = { clusterSelector: { matchLabels: { env: "prod" } } };
const eu = {
  clusterSelector: { matchExpressions: [{ key: "region", operator: "In", values: ["eu"] }] },
} as const;
const approval = { name: "board", approval: {} } as const;
type Gates = NonNullable<NonNullable<Policy["rollout"]>["requiredGates"]>;

const clusters = [
  { key: "fleet-default/ams", name: "ams", labels: { env: "dev", region: "eu" } },
  { key: "fleet-default/ber", name: "ber", labels: { env: "prod", region: "eu" } },
  { key: "fleet-default/cgn", name: "cgn", labels: { env: "prod", region: "us" } },
  { key: "fleet-default/dus", name: "dus", labels: { env: "prod", region: "us" } },
  { key: "fleet-default/ess", name: "ess", labels: { env: "prod", region: "us" } },
];
/** A cluster in the namespace of another workspace. */
const local = { key: "fleet-local/local", name: "local", labels: { env: "prod" } };

function policyOf(requiredGates: Gates, name = "guard", namespace = workspace) {
  const policy = aPolicy(name, { rollout: { requiredGates } });
  return mergePolicies([{ ...policy, metadata: { ...policy.metadata, namespace } }]);
}

function violation(
  strategy: RolloutStrategy | undefined,
  policies: readonly MergedPolicy[] = [policyOf([{ ...prod, gate: "approval" }])],
  reached: readonly StagedCluster[] = clusters,
) {
  const assignment = assignStages(stagesOf(strategy ?? {}), reached, []);
  const of = { strategy, clusters: reached, assignment, namespace: workspace };
  return requiredGateViolation(policies, of)?.error;
}

const devThenProd = (more: object) => ({
  stages: [
    { name: "dev", clusterSelector: { matchLabels: { env: "dev" } } },
    { name: "prod", ...more },
  ],
});

describe("Policies accept", () => {
  const rows: readonly (readonly [
    what: string,
    strategy: RolloutStrategy | undefined,
    policies?: readonly MergedPolicy[] | undefined,
    reached?: readonly StagedCluster[],
  ])[] = [
    ["a stage with the gate", devThenProd({ before: [approval] })],
    [
      "several gates, with it among them",
      devThenProd({ before: [{ name: "ci", external: {} }, approval] }),
    ],
    [
      "the approval of a plan",
      devThenProd({ before: [{ name: "plan", approval: { plan: true } }] }),
    ],
    [
      "an app without stages that reaches no protected cluster",
      undefined,
      undefined,
      clusters.slice(0, 1),
    ],
    [
      "a stage that leaves the protected clusters out",
      { stages: [{ name: "dev", clusterName: "ams" }] },
    ],
    ["anything, where nothing is required", undefined, [mergePolicies([aPolicy("other", {})])]],
  ];
  for (const [what, strategy, policies, reached] of rows)
    test(what, () => {
      assert.equal(violation(strategy, policies, reached), undefined);
    });
});

describe("Policies reject", () => {
  const both: Gates = [
    { ...prod, gate: "approval" },
    { ...eu, gate: "approval" },
  ];
  const rows: readonly (readonly [
    what: string,
    strategy: RolloutStrategy | undefined,
    why: RegExp,
    policies?: readonly MergedPolicy[] | undefined,
  ])[] = [
    [
      "no strategy, with the first clusters and the number of the others",
      undefined,
      /^spec\.rolloutStrategy has no stages, and reaches clusters fleet-default\/ber, fleet-default\/cgn, fleet-default\/dus and 1 more: clusters with env=prod need an approval before them; add spec\.rolloutStrategy\.stages .*\(Policy guard\); what is deployed stays/,
    ],
    [
      "partitions",
      { partitions: [{ name: "all", clusterSelector: {} }], maxUnavailable: 1 },
      /has no stages/,
    ],
    ["a RolloutPolicy that is not read yet", { policy: "rings" }, /has no stages/],
    [
      "a stage without the gate",
      devThenProd({}),
      /^stage prod of spec\.rolloutStrategy reaches clusters .* without an approval before it: clusters with env=prod need one; add before: \[\{name: approval, approval: \{\}\}\] to the stage, or leave/,
    ],
    ["the gate after the stage", devThenProd({ after: [approval] }), /^stage prod /],
    [
      "the gate before an earlier stage",
      { stages: [{ name: "dev", clusterName: "ams", before: [approval] }, { name: "prod" }] },
      /^stage prod /,
    ],
    [
      "a second selector that is not met",
      devThenProd({ before: [approval] }),
      /^stage dev .* reaches cluster fleet-default\/ams .*region in \(eu\)/,
      [policyOf(both)],
    ],
    [
      "all clusters, without a selector",
      { stages: [{ name: "dev", clusterName: "ams" }] },
      /^stage dev .*all clusters need one/,
      [policyOf([{ gate: "approval" }])],
    ],
    [
      "all clusters, with a selector that cannot be used",
      devThenProd({ before: [approval] }),
      /^rollout\.requiredGates of Policy guard cannot be used, so nothing reaches clusters fleet-default\/ams, .*"not a label" cannot be the name of a label/,
      [policyOf([{ clusterSelector: { matchLabels: { "not a label": "x" } }, gate: "approval" }])],
    ],
    [
      "a gate of a newer version",
      devThenProd({ before: [approval] }),
      /does not know the gate "lifecycle"/,
      [policyOf([{ ...prod, gate: "lifecycle" as "approval" }])],
    ],
  ];
  for (const [what, strategy, why, policies] of rows)
    test(what, () => {
      assert.match(violation(strategy, policies)?.message ?? "accepted", why);
    });
});

const cluster = (name: string, labels: Readonly<Record<string, string>>) => ({
  key: `${workspace}/${name}`,
  labels,
});

test("a Policy of another namespace is about the clusters of that one alone", () => {
  const policies = [policyOf([{ ...prod, gate: "approval" }], "guard", "fleet-local")];

  assert.equal(violation(devThenProd({}), policies), undefined);
  assert.match(
    violation(devThenProd({}), policies, [...clusters, local])?.message ?? "accepted",
    /^stage prod .* reaches cluster fleet-local\/local without .*\(Policy fleet-local\/guard\)/,
  );
  assert.ok(isProtected(policies, local, workspace));
  assert.equal(isProtected(policies, cluster("ber", { env: "prod" }), workspace), false);
});

test("Policies of one namespace are joined: none takes back what another one requires", () => {
  const merged = mergePolicies([
    aPolicy("a", { rollout: { requiredGates: [{ ...prod, gate: "approval" }] } }),
    aPolicy("b", { rollout: { requiredGates: null } }),
    aPolicy("c", { rollout: null }),
  ]);

  assert.deepEqual(
    merged.requiredGates.map(({ policy }) => policy),
    ["a"],
  );
  assert.ok(requiresGates([merged]));
  assert.ok(isProtected([merged], cluster("ber", { env: "prod" }), workspace));
  assert.equal(isProtected([merged], cluster("ams", { env: "dev" }), workspace), false);
});
