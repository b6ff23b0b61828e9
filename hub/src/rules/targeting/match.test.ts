import assert from "node:assert/strict";
import { describe, test } from "vitest";
import {
  customizationsOf,
  type TargetCluster,
  type TargetCriteria,
  type TargetGroup,
  targetsOf,
} from "./match.ts";

// A CRD of Fleet accepts any operator.
const unknownOperator = "Like" as "In";

const cluster: TargetCluster = {
  name: "paris",
  labels: { env: "prod", region: "eu", "management.cattle.io/cluster-display-name": "Paris 1" },
};
const groups: readonly TargetGroup[] = [
  { name: "prod", labels: { tier: "gold" }, selector: { matchLabels: { env: "prod" } } },
  { name: "asia", labels: { tier: "gold" }, selector: { matchLabels: { region: "asia" } } },
  { name: "europe", labels: { tier: "silver" }, selector: { matchLabels: { region: "eu" } } },
  { name: "empty", labels: {}, selector: undefined },
];

const cases: readonly (readonly [what: string, target: TargetCriteria, matches: boolean])[] = [
  ["its name", { clusterName: "paris" }, true],
  ["its display name in Rancher", { clusterName: "Paris 1" }, true],
  ["another name", { clusterName: "rome" }, false],
  ["an empty selector", { clusterSelector: {} }, true],
  ["no criteria", {}, false],
  [
    "empty names and null selectors",
    { clusterName: "", clusterSelector: null, clusterGroup: "" },
    false,
  ],
  ["a label", { clusterSelector: { matchLabels: { env: "prod" } } }, true],
  ["one label of two", { clusterSelector: { matchLabels: { env: "prod", region: "us" } } }, false],
  [
    "In",
    {
      clusterSelector: {
        matchExpressions: [{ key: "region", operator: "In", values: ["us", "eu"] }],
      },
    },
    true,
  ],
  [
    "NotIn",
    {
      clusterSelector: { matchExpressions: [{ key: "region", operator: "NotIn", values: ["eu"] }] },
    },
    false,
  ],
  [
    "NotIn on a label that it lacks",
    { clusterSelector: { matchExpressions: [{ key: "x", operator: "NotIn", values: ["eu"] }] } },
    true,
  ],
  [
    "Exists",
    { clusterSelector: { matchExpressions: [{ key: "region", operator: "Exists" }] } },
    true,
  ],
  [
    "DoesNotExist",
    { clusterSelector: { matchExpressions: [{ key: "region", operator: "DoesNotExist" }] } },
    false,
  ],
  [
    "an unknown operator",
    { clusterSelector: { matchExpressions: [{ key: "region", operator: unknownOperator }] } },
    false,
  ],
  ["a group that it is in", { clusterGroup: "prod" }, true],
  ["a group that it is not in", { clusterGroup: "asia" }, false],
  ["a group without a selector", { clusterGroup: "empty" }, false],
  ["a group selector", { clusterGroupSelector: { matchLabels: { tier: "silver" } } }, true],
  [
    "a group and a group selector that match different groups only",
    { clusterGroup: "prod", clusterGroupSelector: { matchLabels: { tier: "silver" } } },
    false,
  ],
  [
    "a name and a selector, one of which does not match",
    { clusterName: "paris", clusterSelector: { matchLabels: { env: "dev" } } },
    false,
  ],
];

for (const [what, target, matches] of cases) {
  test(`a target with ${what} ${matches ? "matches" : "does not match"} the cluster`, () => {
    assert.deepEqual(targetsOf(cluster, { targets: [target] }, groups), matches ? [target] : []);
  });
}

test("the first target that matches is used", () => {
  const first = { clusterSelector: {}, note: 1 };

  assert.deepEqual(
    targetsOf(
      cluster,
      { targets: [{ clusterName: "rome", note: 0 }, first, { clusterName: "paris", note: 2 }] },
      groups,
    ),
    [first],
  );
});

test("a cluster whose first matching target has doNotDeploy gets nothing from later targets", () => {
  assert.deepEqual(
    targetsOf(
      cluster,
      { targets: [{ clusterGroup: "prod", doNotDeploy: true }, { clusterSelector: {} }] },
      groups,
    ),
    [],
  );
});

const all: TargetCriteria = { clusterSelector: {} };
const restricted: readonly (readonly [
  what: string,
  restrictions: readonly TargetCriteria[] | null | undefined,
  targets: readonly TargetCriteria[],
  index: number | undefined,
])[] = [
  ["no restrictions", undefined, [all], 0],
  ["null restrictions", null, [all], 0],
  ["an empty list of restrictions", [], [all], 0],
  ["a restriction by its name", [{ clusterName: "paris" }], [all], 0],
  ["a restriction by another name", [{ clusterName: "rome" }], [all], undefined],
  ["one matching restriction of two", [{ clusterName: "rome" }, all], [all], 0],
  ["a restriction without criteria", [{}], [all], undefined],
  [
    "a restriction by labels that it lacks",
    [{ clusterSelector: { matchLabels: { env: "dev" } } }],
    [all],
    undefined,
  ],
  ["a restriction by its group", [{ clusterGroup: "prod" }], [all], 0],
  ["a restriction by another group", [{ clusterGroup: "asia" }], [all], undefined],
  [
    "a restriction by a group selector",
    [{ clusterGroupSelector: { matchLabels: { tier: "gold" } } }],
    [{ clusterGroup: "prod" }],
    0,
  ],
  [
    "a restriction and a target by different groups",
    [{ clusterGroup: "prod" }],
    [{ clusterGroup: "europe" }],
    undefined,
  ],
  [
    "a first target by another group than the restriction's, and a later one by the same",
    [{ clusterGroup: "prod" }],
    [{ clusterGroup: "europe" }, all],
    0,
  ],
  [
    "a restriction that matches and a target that does not",
    [all],
    [{ clusterName: "rome" }],
    undefined,
  ],
];
for (const [what, targetRestrictions, targets, index] of restricted) {
  test(`with ${what} the cluster gets ${index === undefined ? "nothing" : "the first target"}`, () => {
    const expected = index === undefined ? [] : [targets[index]];

    assert.deepEqual(targetsOf(cluster, { targets, targetRestrictions }, groups), expected);
  });
}

test("a cluster without groups is not restricted by them", () => {
  const alone: TargetCluster = { name: "oslo", labels: {} };
  const targets = [all];

  assert.deepEqual(targetsOf(alone, { targets, targetRestrictions: [all] }, groups), [all]);
  assert.deepEqual(
    targetsOf(alone, { targets, targetRestrictions: [{ clusterGroup: "prod" }] }, groups),
    [],
  );
});

describe("the targets that a cluster gets with targetCustomizationMode", () => {
  interface Named extends TargetCriteria {
    readonly name: string;
  }
  const a: Named = { name: "A", clusterSelector: { matchLabels: { env: "prod" } } };
  const b: Named = { name: "B", clusterName: "c1" };
  const c: Named = { name: "C", clusterSelector: {} };
  const c1: TargetCriteria = { clusterName: "c1" };
  const no = { doNotDeploy: true };
  const rows: readonly (readonly [
    what: string,
    cluster: readonly [name: string, env: string],
    targets: readonly Named[],
    restrictions: readonly TargetCriteria[],
    firstMatch: string,
    allMatches: string,
  ])[] = [
    ["c1, env=prod", ["c1", "prod"], [a, b, c], [all], "A", "C A B"],
    ["c1, env=test", ["c1", "test"], [a, b, c], [all], "B", "C B"],
    ["c2, env=prod", ["c2", "prod"], [a, b, c], [all], "A", "C A"],
    ["c2, env=test", ["c2", "test"], [a, b, c], [all], "C", "C"],
    ["c1, env=prod; B has doNotDeploy", ["c1", "prod"], [a, { ...b, ...no }, c], [all], "A", ""],
    ["c1, env=prod; A has doNotDeploy", ["c1", "prod"], [{ ...a, ...no }, b, c], [all], "", ""],
    ["c2, env=test; C has doNotDeploy", ["c2", "test"], [a, b, { ...c, ...no }], [all], "", ""],
    [
      "c2, env=test; restriction and C are clusterName c1",
      ["c2", "test"],
      [a, b, { ...c1, name: "C" }],
      [c1],
      "",
      "",
    ],
    [
      "c2, env=prod; restriction and C are clusterName c1: a customization alone is no target",
      ["c2", "prod"],
      [a, b, { ...c1, name: "C" }],
      [c1],
      "",
      "",
    ],
    ["c1, env=prod; no restrictions", ["c1", "prod"], [a, b, c], [], "A", "A"],
    ["c1, env=prod; three restrictions", ["c1", "prod"], [a, b, c], [all, all, all], "A", "A"],
  ];
  for (const [what, [name, env], targets, targetRestrictions, first, every] of rows)
    test(what, () => {
      const of: TargetCluster = { name, labels: { env } };
      const namesWith = (targetCustomizationMode: "FirstMatch" | "AllMatches") =>
        targetsOf(of, { targets, targetRestrictions, targetCustomizationMode }, [])
          .map((target) => target.name)
          .join(" ");

      assert.equal(namesWith("FirstMatch"), first);
      assert.equal(namesWith("AllMatches"), every);
    });

  test("are ordinary ones by the same group as a restriction only", () => {
    const targeting = {
      targets: [all, { clusterGroup: "europe" }],
      targetRestrictions: [{ clusterGroup: "prod" }],
      targetCustomizationMode: "FirstMatch" as const,
    };

    assert.deepEqual(targetsOf(cluster, targeting, groups), []);
    assert.deepEqual(
      targetsOf(
        cluster,
        { ...targeting, targetRestrictions: [{ clusterGroup: "europe" }] },
        groups,
      ),
      [all],
    );
  });

  test("are found as before without a mode", () => {
    const targeting = { targets: [a, c], targetRestrictions: [all] };

    assert.deepEqual(customizationsOf(targeting), []);
    assert.deepEqual(targetsOf({ name: "c1", labels: { env: "prod" } }, targeting, []), [a]);
  });
});
