import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { type ExplainedTargeting, explainTarget } from "./explain.ts";

const cluster = { name: "paris", labels: { env: "test", region: "eu" } };
const group = { name: "europe", labels: {}, selector: { matchLabels: { region: "eu" } } };

describe("why a cluster is a target, or is none", () => {
  const customized = (targets: ExplainedTargeting["targets"]): ExplainedTargeting => ({
    targets,
    targetRestrictions: [{ clusterSelector: {} }],
    targetCustomizationMode: "AllMatches",
  });
  const rows: readonly (readonly [string, ExplainedTargeting, boolean, string])[] = [
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
      "with customizations",
      customized([
        { clusterName: "paris" },
        { name: "b", clusterSelector: {} },
        { clusterSelector: {} },
      ]),
      true,
      "target 3 matches it: clusterSelector {} (every cluster), customized by target 1, target b",
    ],
    [
      "by a customization alone",
      customized([{ clusterName: "paris" }, { clusterName: "lyon" }]),
      false,
      "target 1 matches it, which only customizes what later targets deploy, and none of those matches it",
    ],
    [
      "excluded by doNotDeploy of a customization",
      customized([{ clusterName: "paris", doNotDeploy: true }, { clusterSelector: {} }]),
      false,
      "target 1 matches it, and has doNotDeploy",
    ],
    [
      "that is in a partition",
      {
        targets: [{ clusterSelector: {} }],
        rolloutStrategy: { partitions: [{ clusterName: "lyon" }, { clusterGroup: "europe" }] },
      },
      true,
      "target 1 matches it: clusterSelector {} (every cluster)",
    ],
    [
      "that is in no partition",
      {
        targets: [{ clusterSelector: {} }],
        rolloutStrategy: { partitions: [{ clusterName: "lyon" }] },
      },
      true,
      "target 1 matches it: clusterSelector {} (every cluster); none of rolloutStrategy.partitions takes it, so nothing is deployed there",
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
