/** Expressions of users: when objects are ready, when dependencies are met, and what bounds them. With the real Helm and API server. */
import assert from "node:assert/strict";
import type { DeploymentState } from "@flotilla/proto";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import { afterAll, describe, test } from "vitest";
import { type ChartArchive, chartArchive } from "../harness/chart-archive.ts";
import { startInstaller } from "../harness/in-process-installer.ts";
import { definitionText } from "../harness/object-text.ts";
import { startAgentCluster } from "./agent-cluster.ts";
import { assignmentOf, type DeploymentSpec } from "./assignment.ts";

const { client, charts, spec } = await startAgentCluster();
const { url } = charts;
const agent = await startInstaller(spec);
afterAll(() => agent.stop());

const things: Resource<KubeObject> = {
  ...{ group: "example.com", version: "v1", kind: "Thing", plural: "things", namespaced: true },
};

/** Without the subresource `status`, so that a patch sets any field. */
const definition = definitionText({ group: "example.com", kind: "Thing" });

/** Has a custom resource whose status no rule knows. */
const thing = await chartArchive({
  name: "thing",
  version: "1.0.0",
  crds: { "things.yaml": definition },
  templates: {
    "thing.yaml":
      "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: thing}\nspec: {{ .Values | toJson }}\n",
  },
});

function app(version: string): Promise<ChartArchive> {
  return chartArchive({
    name: "app",
    version,
    templates: {
      "config.yaml":
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config}\ndata: {version: {{ .Chart.Version | quote }}}\n",
    },
  });
}

const [old, recent] = [await app("1.0.0"), await app("2.0.0")];
charts.publish(thing, old, recent);

async function assign(name: string, more: Partial<DeploymentSpec> = {}): Promise<void> {
  await agent.intake.assign(await assignmentOf({ name, chart: old, url, ...more }));
}

function report(
  name: string,
  isDesired: (state: DeploymentState) => boolean,
): Promise<DeploymentState> {
  return agent.report((state) => state.name === name && isDesired(state));
}

/** The first object that is not ready is in this state, with this message. */
function notReady(name: string, state: string, message: RegExp): Promise<DeploymentState> {
  return report(name, (each) => {
    const [first] = each.notReady;
    return each.phase === "deployed" && first?.state === state && message.test(first.message);
  });
}

function waiting(name: string, message: RegExp): Promise<DeploymentState> {
  return report(name, (state) => state.phase === "pending" && message.test(state.message));
}

function installed(name: string, version = old.version): Promise<DeploymentState> {
  return report(
    name,
    ({ phase, ready, release }) =>
      phase === "deployed" && ready && release?.chartVersion === version,
  );
}

function runsFor(name: string): number {
  return agent.helmRuns.filter((args) => args.includes(name)).length;
}

async function setStatus(namespace: string, status: object): Promise<void> {
  await client.patch(things, { namespace, name: "thing" }, { type: "merge", body: { status } });
}

const byPhase = {
  ...{ group: "example.com", kind: "Thing" },
  inProgress: "status.phase in ['Pending', 'Creating']",
  failed: "status.phase == 'Failed'",
  current: "status.phase == 'Running' && status.nodes.all(n, n.healthy) && spec.size == 3",
};

describe("the readiness of a custom resource", () => {
  test("is decided by healthCheckExprs, and follows its status", async () => {
    const deployment = { chart: thing, values: { size: 3 }, healthCheckExprs: [byPhase] };
    await assign("checked", deployment);
    await notReady("checked", "in-progress", /inProgress cannot be evaluated: there is no status$/);

    await setStatus("checked", { phase: "Creating" });
    await notReady("checked", "in-progress", /inProgress is true$/);
    await setStatus("checked", { phase: "Failed" });
    await notReady("checked", "failed", /failed is true$/);
    await setStatus("checked", {
      phase: "Running",
      nodes: [{ healthy: true }, { healthy: false }],
    });
    await notReady("checked", "in-progress", /current is not true$/);
    await setStatus("checked", { nodes: [{ healthy: true }] });
    await installed("checked");

    const runs = runsFor("checked");
    const never = { ...byPhase, inProgress: "kind == 'Thing'" };
    await assign("checked", { ...deployment, healthCheckExprs: [never] });
    await report(
      "checked",
      ({ deploymentId, ready, notReady: [first] }) =>
        !ready &&
        deploymentId !== agent.reports.find(({ name }) => name === "checked")?.deploymentId &&
        first?.state === "in-progress",
    );
    assert.equal(runsFor("checked"), runs, "other expressions do not run Helm");
  });

  test("is that of the rule for its kind without expressions", async () => {
    await assign("unchecked", { chart: thing });

    await installed("unchecked");
  });
});

describe("a dependency with a readyExpr", () => {
  test("is waited for until the expression is true, and each of its changes is seen", async () => {
    const readyExpr =
      "dep.status.history[0].appVersion == '2.0.0' && dep.status.conditions.exists(c, c.type == 'Ready' && c.status == 'True') && self.metadata.name == 'web'";
    await assign("web", { dependsOn: [{ name: "db", readyExpr }] });
    await waiting("web", /^waiting for db, which this cluster does not have$/);

    await assign("db");
    await installed("db");
    await waiting("web", /^waiting for db: its readyExpr is not true$/);
    assert.equal(runsFor("web"), 0);
    await assign("db", { chart: recent });

    await installed("web");
  });

  test("may be met while the dependency is not ready", async () => {
    const healthCheckExprs = [{ group: "example.com", current: "false" }];
    await assign("never", { chart: thing, healthCheckExprs });
    await notReady("never", "in-progress", /./);
    const readyExpr = "!dep.status.ready && dep.status.release.chartVersion == '1.0.0'";
    await assign("eager", { dependsOn: [{ name: "never", readyExpr }] });

    await installed("eager");
  });

  test("is stalled by an expression that the agent cannot compile", async () => {
    await assign("broken", { dependsOn: [{ name: "db", readyExpr: "dep.status.later()" }] });

    const { code, conditions = [] } = await report("broken", ({ phase }) => phase === "failed");
    assert.equal(code, "INVALID_CEL_EXPRESSION");
    const stalled = conditions.find(({ type }) => type === "Stalled");
    assert.equal(stalled?.reason, "InvalidCELExpression");
    assert.match(stalled.message, /there is no method later\(\) \(line 1, column 1\)/);

    await assign("broken", { dependsOn: [{ name: "db", readyExpr: "dep.status.ready" }] });
    await installed("broken");
  });
});

test("a cycle of dependencies is named in each of its members, until one of them changes", async () => {
  await assign("a", { dependsOn: [{ name: "b" }] });
  await assign("b", { dependsOn: [{ name: "c" }] });
  await waiting("a", /^waiting for b, which is WaitApplied and must be Ready$/);
  await assign("c", { dependsOn: [{ name: "a" }] });

  await waiting("a", /; dependency cycle: a → b → c → a; remove one of them from a dependsOn$/);
  await waiting("b", /; dependency cycle: b → c → a → b;/);
  await waiting("c", /; dependency cycle: c → a → b → c;/);
  await assign("c");

  for (const name of ["a", "b", "c"]) await installed(name);
});

describe("an expression that takes too long", () => {
  const numbers = Array.from({ length: 1_000 }, (_, index) => index);
  const hostile = "spec.numbers.all(a, spec.numbers.all(b, spec.numbers.all(c, a + b + c >= 0)))";
  const text = "x".repeat(10_000);

  test("is ended, and other releases go on", async () => {
    const healthCheckExprs = [{ group: "example.com", current: hostile }];
    await assign("hostile", { chart: thing, values: { numbers }, healthCheckExprs });
    const list = `[${numbers.slice(0, 200).join()}]`;
    const readyExpr = `cel.bind(l, ${list}, l.all(a, l.all(b, l.all(c, a + b + c >= 0))))`;
    await assign("waits", { dependsOn: [{ name: "db", readyExpr }] });

    await notReady(
      "hostile",
      "in-progress",
      /current cannot be evaluated: it needs more than 100000 steps$/,
    );
    await waiting(
      "waits",
      /^waiting for db: its readyExpr cannot be evaluated: it needs more than 100000 steps$/,
    );
    await assign("other");
    await installed("other");
  });

  test("does not backtrack in a regular expression, nor evaluates one that is too large", async () => {
    const failed = "spec.text.matches('(a?){900}(b?){900}$')";
    const current = "!spec.text.matches('^(x+x+)+y$')";
    const healthCheckExprs = [{ group: "example.com", current }];
    await assign("regex", { chart: thing, values: { text }, healthCheckExprs });
    await installed("regex", thing.version);

    await assign("regex", {
      ...{ chart: thing, values: { text } },
      healthCheckExprs: [{ group: "example.com", failed, current }],
    });
    await notReady(
      "regex",
      "in-progress",
      /failed cannot be evaluated: (it needs more than|a regular expression cannot be used: )/,
    );
  });
});
