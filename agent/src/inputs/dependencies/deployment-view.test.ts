import assert from "node:assert/strict";
import type { DeploymentState } from "@flotilla/proto";
import { compileCel, readyVariables } from "@flotilla/shared/cel";
import { describe, test } from "vitest";
import { deploymentView, type ViewedDeployment } from "./deployment-view.ts";

const report: DeploymentState = {
  ...{ name: "db", uid: "uid", deploymentId: "new", phase: "deployed", message: "", ready: true },
  ...{ notReady: [], resources: [], incomplete: false },
  counts: { desiredReady: 1, ready: 1, notReady: 0, missing: 0, unknown: 0 },
  release: { namespace: "data", name: "db", revision: 3, chartVersion: "1.2.0", appVersion: "16" },
  conditions: [{ type: "Released", status: "True", reason: "UpgradeSucceeded", message: "" }],
  history: [
    {
      ...{ revision: 3, status: "deployed", action: "upgrade", chartName: "postgres" },
      ...{ chartVersion: "1.2.0", appVersion: "16", tests: [] },
    },
  ],
};

const deployment: ViewedDeployment = {
  name: "db",
  labels: { tier: "base", "fleet.cattle.io/bundle-namespace": "team-a" },
  state: "Ready",
  report,
  deploymentId: "new",
};

function isTrue(source: string, dep: ViewedDeployment): boolean {
  const compiled = compileCel(source, { variables: readyVariables });
  if (compiled.kind === "invalid") assert.fail(compiled.why);
  const view = deploymentView(dep);
  const evaluated = compiled.expression.evaluate({ self: view, dep: view });
  return evaluated.kind === "value" ? evaluated.value : assert.fail(JSON.stringify(evaluated));
}

describe("what an expression reads of a deployment", () => {
  for (const source of [
    "dep.metadata.name == 'db' && dep.metadata.namespace == 'team-a'",
    "dep.metadata.labels['tier'] == 'base'",
    "dep.status.conditions.filter(e, e.type == 'Ready').all(e, e.status == 'True')",
    "dep.status.conditions.exists(e, e.type == 'Released' && e.reason == 'UpgradeSucceeded')",
    "dep.metadata.generation == dep.status.observedGeneration",
    "dep.status.state == 'Ready' && dep.status.ready",
    "dep.status.release.name == 'db' && dep.status.release.appVersion == '16'",
    "dep.status.history[0].chartVersion == '1.2.0' && dep.status.history[0].version == 3",
    "!has(dep.spec) && !has(dep.status.resources)",
  ])
    test(`includes ${source}`, () => {
      assert.equal(isTrue(source, deployment), true);
    });

  test("is not observed while the report is of other content, or nothing was done yet", () => {
    const observed = "dep.metadata.generation == dep.status.observedGeneration";

    assert.equal(isTrue(observed, { ...deployment, deploymentId: "newer" }), false);
    assert.equal(
      isTrue(observed, { ...deployment, report: { ...report, phase: "pending" } }),
      false,
    );
    const { report: _, ...fresh } = deployment;
    assert.equal(isTrue(observed, { ...fresh, state: "WaitApplied" }), false);
    assert.equal(
      isTrue("dep.status.conditions[0].status == 'False'", { ...fresh, state: "WaitApplied" }),
      true,
    );
  });
});
