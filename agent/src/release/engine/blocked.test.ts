/** What the driver makes of a release whose dependencies are unmet, and what it logs about it. */
import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { play, testRows } from "./testing/index.ts";

const dependsOn = [{ name: "db", acceptedStates: ["Ready" as const] }];
const installed = { version: "1.0.0" };
const blocked = { version: "1.1.0", content: { dependsOn } };

describe("a release with an unmet dependency", () => {
  testRows([
    {
      name: "is not installed",
      step: blocked,
      runs: [],
      decisions: ["absent (NotInstalled): blocked by db"],
      result: "pending",
      installed: [],
    },
    {
      name: "is not upgraded",
      given: [installed],
      step: blocked,
      runs: [],
      decisions: ["outOfSync (ChartChanged): blocked by db"],
      result: "pending",
      installed: ["shop: deployed 1.0.0, runs 1.0.0"],
      reasons: ["NotInstalled"],
    },
    {
      name: "stays as it is if it is as desired",
      given: [installed],
      step: { ...installed, content: { dependsOn } },
      runs: [],
      decisions: [],
      result: "deployed",
      installed: ["shop: deployed 1.0.0, runs 1.0.0"],
      reasons: ["NotInstalled"],
    },
    {
      name: "is not installed without a source of its values, which the dependency may create",
      step: {
        version: "1.0.0",
        content: { dependsOn, valuesFrom: [{ kind: "ConfigMap", name: "db", key: "values.yaml" }] },
      },
      runs: [],
      decisions: ["unknown (InputsMissing): blocked by db"],
      result: "pending",
      installed: [],
    },
  ]);

  test("is logged once, however often it is reconciled", async () => {
    const { agent, cluster } = await play({ step: blocked });

    await agent.reconcile("web");
    await agent.reconcile("web");

    const decision = "absent (NotInstalled): blocked by db";
    assert.deepEqual(cluster.lines, [`info ${decision}`, `debug ${decision}`, `debug ${decision}`]);
  });
});
