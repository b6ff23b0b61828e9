import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { explainTarget } from "./explain.ts";
import type { TargetCriteria, Targeting } from "./match.ts";

const cluster = { name: "paris", labels: { env: "test", region: "eu" } };
const group = { name: "europe", labels: {}, selector: { matchLabels: { region: "eu" } } };

describe("why a cluster is a target, or is none", () => {
  type Target = TargetCriteria & { readonly name?: string };
  const rows: readonly (readonly [string, Targeting<Target>, boolean, string])[] = [
    ["without targets", {}, false, "it has no targets"],
    [
      "by a label",
      { targets: [{ clusterSelector: { matchLabels: { env: "test" } } }] },
      true,
      "target 1 matches it: clusterSelector env=test",
    ],
    [
      "by the second target, which has a name",
      { targets: [{ clusterName: "lyon" }, { name: "all", clusterSelector: {} }] },
      true,
      "target all matches it: clusterSelector {} (every cluster)",
    ],
    [
      "by a group",
      { targets: [{ clusterGroup: "europe" }] },
      true,
      "target 1 matches it: clusterGroup europe",
    ],
    [
      "excluded by doNotDeploy",
      { targets: [{ clusterName: "paris", doNotDeploy: true }, { clusterSelector: {} }] },
      false,
      "target 1 matches it, and has doNotDeploy",
    ],
    [
      "excluded by targetRestrictions",
      { targets: [{ clusterSelector: {} }], targetRestrictions: [{ clusterName: "lyon" }] },
      false,
      "target 1 matches it, but none of targetRestrictions does",
    ],
    [
      "with another value of a label, and without one",
      {
        targets: [
          { name: "prod", clusterSelector: { matchLabels: { env: "prod" } } },
          {
            clusterSelector: {
              matchExpressions: [{ key: "tier", operator: "In", values: ["a", "b"] }],
            },
          },
        ],
      },
      false,
      "no target matches it: target prod has clusterSelector env=prod; target 2 has clusterSelector tier in (a,b); the cluster has env=test, tier=(none)",
    ],
    [
      "by a target without criteria",
      { targets: [{}] },
      false,
      "no target matches it: target 1 has no criteria, which match nothing",
    ],
  ];
  for (const [name, targeting, isTarget, why] of rows)
    test(name, () => {
      assert.deepEqual(explainTarget(cluster, targeting, [group]), { isTarget, why });
    });
});
