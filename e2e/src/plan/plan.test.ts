/** Plans of the agent with the real Helm on a real control plane: what they say is what the upgrade that follows does. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { AssignmentRequest } from "@flotilla/agent/state";
import type { DeploymentState } from "@flotilla/proto";
import {
  type KubeObject,
  namespaces,
  secrets,
  serviceAccounts,
} from "@flotilla/shared/kube/objects";
import { type PlanAnswer, parsePlanAnswer } from "@flotilla/shared/plan";
import { afterAll, describe, test } from "vitest";
import { startAgentCluster } from "../agent/agent-cluster.ts";
import { isDeployed } from "../agent/agent-reports.ts";
import { assignmentOf, type DeploymentSpec } from "../agent/assignment.ts";
import { frozenChart } from "../agent/unchangeable-charts.ts";
import { type ChartArchive, chartArchive } from "../harness/chart-archive.ts";
import { startInstaller } from "../harness/in-process-installer.ts";
import { configMapText, definitionText } from "../harness/object-text.ts";
import { accountRef, clusterRoleBindings, clusterRoleFor, clusterRoles } from "../harness/rbac.ts";
import { allObjectsOf } from "./all-objects.ts";
import {
  changesBetween,
  type HelmObjects,
  helmObjects,
  plannedIn,
  resourceVersionsOf,
  settledVersions,
} from "./changed-objects.ts";
import { secretTemplates, upgradedCharts, versionsOf } from "./plan-charts.ts";
import { refuseDryRuns } from "./refused-dry-runs.ts";

const cluster = await startAgentCluster();
const { client, charts, spec } = cluster;
const { url } = charts;
const agent = await startInstaller(spec);
const allObjects = allObjectsOf(client);
afterAll(() => agent.stop());

/** The key of all plans, unless a test has its own. */
const key = randomBytes(32);

async function requestOf(
  name: string,
  chart: ChartArchive,
  more: Partial<DeploymentSpec> = {},
): Promise<AssignmentRequest> {
  charts.publish(chart);
  return await assignmentOf({ name, chart, url, ...more });
}

async function install(
  name: string,
  chart: ChartArchive,
  more: Partial<DeploymentSpec> = {},
): Promise<DeploymentState> {
  await agent.intake.assign(await requestOf(name, chart, more));
  const isInstalled = isDeployed(name, chart.version);
  const state = await agent.report(
    (each) => isInstalled(each) || (each.name === name && each.phase === "failed"),
  );
  assert.equal(state.phase, "deployed", state.message);
  return state;
}

/** Also asserts that the plan has changed nothing in the cluster. */
async function plan(
  { deployment, deploymentId, content }: AssignmentRequest,
  own: Uint8Array = key,
): Promise<PlanAnswer> {
  const parts: string[] = [];
  const { signal } = new AbortController();
  const before = await settled();
  await agent.answer(
    {
      deployment,
      body: {
        ...{ kind: "plan", deploymentId, key: own, withText: true, objects: [] },
        ...(content !== undefined && { content }),
      },
    },
    { signal, write: (text) => Promise.resolve(void parts.push(text)) },
  );
  assert.deepEqual(resourceVersionsOf(await allObjects()), before);
  const answer = parsePlanAnswer(Buffer.from(parts.join("")));
  assert.ok(answer, parts.join(""));
  return answer;
}

/** Also waits for Jobs to end. */
const settled = () => settledVersions(allObjects, isRunningJob);

function isRunningJob(object: KubeObject & { readonly status?: JobStatus }): boolean {
  const { kind, status } = object;
  return kind === "Job" && !(status?.conditions ?? []).some(({ type }) => type === "Complete");
}

interface JobStatus {
  readonly conditions?: readonly { readonly type: string }[];
}

/** A quantity that the API server stores in another form. */
const webText = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: example.com/web, resources: {requests: {cpu: 1000m}}}]
`;

/** What Helm has of a release. */
async function contents(release: string): Promise<HelmObjects> {
  return helmObjects(await allObjects(), release);
}

describe("a plan names what the upgrade that follows changes, and nothing else", () => {
  test.each(upgradedCharts)("chart %s", async (name, first, second) => {
    const [one, two] = await versionsOf(name, { templates: first }, { templates: second });
    await install(name, one);
    const before = await contents(name);
    const request = await requestOf(name, two);

    const { result, text } = await plan(request);
    await install(name, two);

    const after = await contents(name);
    const changed = changesBetween(before, after);
    assert.deepEqual(plannedIn(text), changed);
    assert.equal(result.result, changed.length === 0 ? "none" : "changes", text);
    const hooks = [...text.matchAll(/^# (.*: hook .*)$/gm)].map(([, hook]) => hook);
    assert.deepEqual(hooks, name === "hooks" ? ["ConfigMap migrate: hook pre-upgrade"] : []);
    assert.deepEqual(
      [result.hooks, result.remarks.includes("Hooks")],
      [hooks.length, hooks.length > 0],
    );
    assert.equal(result.remarks.includes("Generated"), name === "random");
    assert.deepEqual([result.revision, result.failures], [1, 0]);
  });
});

test("a plan of the installed content says that nothing changes, and does not run Helm", async () => {
  const chart = await chartArchive({
    ...{ name: "same", version: "1.0.0" },
    templates: { "a.yaml": configMapText("a") },
  });
  await install("same", chart);
  const request = await requestOf("same", chart);
  const runs = agent.helmRuns.length;

  const { result, text } = await plan(request);

  assert.deepEqual([result.result, result.applied, text], ["none", request.deploymentId, ""]);
  assert.equal(agent.helmRuns.length, runs);
});

test("clusters with random passwords have one digest, and a plan shows them as generated", async () => {
  const templates = {
    "a.yaml": `apiVersion: v1
kind: Secret
metadata: {name: login}
stringData: {password: {{ randAlphaNum 20 | quote }}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: rolled, annotations: {rollme: {{ randAlphaNum 5 | quote }}, at: {{ now | unixEpoch | quote }}}}
data: {version: {{ .Chart.Version }}}
`,
  };
  const [one] = await versionsOf("generated", { templates }, { templates });

  const request = await requestOf("generated", one);
  const [first, second] = [await plan(request), await plan(request)];

  assert.equal(first.result.result, "install");
  assert.equal(first.result.digest, second.result.digest);
  assert.equal(first.text, second.text);
  assert.match(first.text, /^\+ {4}rollme: \(generated\)$/m);
  assert.match(first.text, /^\+ {4}at: \(generated\)$/m);
  assert.ok(first.result.remarks.includes("NamespaceMissing"));
});

describe("values of Secrets", () => {
  const [before, after] = ["hunter2-before", "hunter2-after-"];
  const valuesFrom: NonNullable<DeploymentSpec["valuesFrom"]> = [
    { kind: "Secret", name: "values", key: "values.yaml" },
  ];
  const setPassword = async (password: string) =>
    await client.patch(
      secrets,
      { namespace: "hidden", name: "values" },
      {
        ...{ type: "apply", force: true },
        body: {
          ...{ apiVersion: "v1", kind: "Secret" },
          metadata: { namespace: "hidden", name: "values" },
          stringData: { "values.yaml": `password: ${password}\n` },
        },
      },
      { fieldManager: "test" },
    );

  test("are in no answer, and another password is another digest", async () => {
    const [one, two] = await versionsOf(
      "hidden",
      { templates: secretTemplates },
      { templates: secretTemplates },
    );
    await client.create(namespaces, { metadata: { name: "hidden" } });
    await setPassword(before);
    await install("hidden", one, { valuesFrom });
    const request = await requestOf("hidden", two, { valuesFrom });
    const same = await plan(request);
    // It is not upgraded with the new one.
    await agent.intake.assign({
      ...(await requestOf("hidden", one, { valuesFrom })),
      paused: true,
    });
    await setPassword(after);

    const changed = await plan(request);

    for (const { result, text } of [same, changed])
      for (const secret of [before, after])
        for (const form of [secret, Buffer.from(secret).toString("base64")])
          assert.ok(!`${JSON.stringify(result)}${text}`.includes(form), text);
    assert.deepEqual(plannedIn(same.text), ["ConfigMap hidden/settings: update"]);
    assert.deepEqual(plannedIn(changed.text), [
      "ConfigMap hidden/settings: update",
      "Secret hidden/login: update",
    ]);
    assert.notEqual(same.result.digest, changed.result.digest);
    assert.match(changed.text, /^- {2}password: "?\*\*\* \(live\)"?$/m);
    const others = await plan(request, randomBytes(32));
    assert.notEqual(others.result.digest, changed.result.digest);
    assert.equal(others.result.shape, changed.result.shape);
  });

  test("are not planned with a key that can be guessed", async () => {
    const chart = await chartArchive({
      ...{ name: "key", version: "1.0.0" },
      templates: { "a.yaml": configMapText("a") },
    });
    const request = await requestOf("key", chart);

    await assert.rejects(plan(request, new Uint8Array(15)), { code: "REQUEST_FAILED" });
  });
});

describe("what would fail", () => {
  test("is a field that cannot be changed, and with force an object that is replaced", async () => {
    const [one, two] = await Promise.all([frozenChart("1.0.0"), frozenChart("2.0.0")]);
    await install("frozen", one);

    const fails = await plan(await requestOf("frozen", two));
    const replaces = await plan(await requestOf("frozen", two, { helm: { force: true } }));

    assert.deepEqual(
      [fails.result.result, fails.result.code, fails.result.failures],
      ["fails", "UPGRADE_REJECTED", 3],
    );
    assert.match(fails.text, /^# Job frozen\/once: fails: spec\.template: field is immutable$/m);
    assert.match(
      fails.text,
      /^# Deployment frozen\/web: fails: spec\.selector: field is immutable$/m,
    );
    assert.match(
      fails.text,
      /^# StatefulSet frozen\/db: fails: spec: updates to statefulset spec/m,
    );
    assert.match(fails.result.message ?? "", /^3 objects would fail: /);
    assert.equal(replaces.result.result, "changes");
    assert.deepEqual(replaces.result.counts, { create: 0, update: 0, replace: 3, delete: 0 });
  });

  test("is an object that the account may not change, with the right that is missing", async () => {
    const [one, two] = await versionsOf(
      "rights",
      { templates: { "a.yaml": configMapText("a", { data: "{v: one}" }) } },
      { templates: { "a.yaml": configMapText("a", { data: "{v: two}" }) } },
    );
    await install("rights", one);
    await client.create(serviceAccounts, { metadata: accountRef("reader") });
    await client.create(clusterRoles, {
      metadata: { name: "plan-reader" },
      rules: [{ apiGroups: [""], resources: ["configmaps", "secrets"], verbs: ["get", "list"] }],
    });
    await client.create(clusterRoleBindings, {
      metadata: { name: "plan-reader" },
      ...clusterRoleFor("plan-reader", "reader"),
    });

    const { result, text } = await plan(
      await requestOf("rights", two, { serviceAccount: "reader" }),
    );

    assert.deepEqual([result.result, result.code], ["fails", "UPGRADE_REJECTED"]);
    assert.match(text, /^# ConfigMap rights\/a: fails: .*patch.*configmaps/m);
  });

  test("is a template that has an error, and an account that does not exist", async () => {
    const chart = await chartArchive({
      ...{ name: "broken", version: "1.0.0" },
      templates: { "a.yaml": '{{ fail "set the region first" }}' },
    });

    const template = await plan(await requestOf("broken", chart));
    const account = await plan(await requestOf("broken", chart, { serviceAccount: "nobody" }));

    assert.deepEqual([template.result.result, template.result.code], ["fails", "HELM_FAILED"]);
    assert.match(template.result.message ?? "", /set the region first/);
    assert.equal(account.result.code, "SERVICE_ACCOUNT_MISSING");
  });
});

test("definitions of a chart are shown beside its objects, and are not in the digest", async () => {
  const group = "plans.example.com";
  const widget = `apiVersion: ${group}/v1\nkind: Widget\nmetadata: {name: first}\nspec: {a: 1}\n`;
  const [one, two] = await versionsOf(
    "defined",
    {
      templates: { "a.yaml": widget },
      crds: { "widgets.yaml": definitionText({ group, kind: "Widget" }) },
    },
    {
      templates: { "a.yaml": widget },
      crds: { "widgets.yaml": definitionText({ group, kind: "Widget", column: "A" }) },
    },
  );

  const installs = await plan(await requestOf("defined", one));
  await install("defined", one);
  const keeps = await plan(await requestOf("defined", two));
  const replacing = { actions: { upgrade: { crds: "CreateReplace" } } } as const;
  const replaces = await plan(await requestOf("defined", two, replacing));

  assert.equal(installs.result.result, "install");
  assert.deepEqual(plannedIn(installs.text), [
    `CustomResourceDefinition widgets.${group}: create`,
    "Widget defined/first: create",
  ]);
  for (const remark of ["LookupNotEvaluated", "NotValidated", "CrdsApplied"])
    assert.ok(installs.result.remarks.includes(remark), remark);
  assert.equal(keeps.result.result, "none", keeps.text);
  assert.deepEqual(plannedIn(replaces.text), [`CustomResourceDefinition widgets.${group}: update`]);
  assert.deepEqual(replaces.result.counts, { create: 0, update: 1, replace: 0, delete: 0 });
});

test("objects of a webhook that has side effects are compared without the API server, with a remark", async () => {
  const rendered = (value: string) => ({
    "a.yaml": configMapText("changed", { data: `{v: ${value}}` }),
    "b.yaml": configMapText("same", { data: "{v: one}" }),
    "c.yaml": webText,
    "d.yaml": `apiVersion: v1\nkind: Secret\nmetadata: {name: other}\nstringData: {v: ${value}}\n`,
  });
  const [one, two] = await versionsOf(
    "audited",
    { templates: rendered("one") },
    { templates: rendered("two") },
  );
  await install("audited", one);
  await refuseDryRuns(cluster, "audited");
  const before = await contents("audited");

  const { result, text } = await plan(await requestOf("audited", two));
  await install("audited", two);

  assert.deepEqual(changesBetween(before, await contents("audited")), [
    "ConfigMap audited/changed: update",
    "Secret audited/other: update",
  ]);
  // Only the API server knows that 1000m is what it has stored as 1.
  assert.deepEqual(plannedIn(text), [
    "ConfigMap audited/changed: update",
    "Deployment audited/web: update",
    "Secret audited/other: update",
  ]);
  assert.match(text, /^-.*cpu: .*1.*\n\+.*cpu: .*1000m/m);
  assert.deepEqual(result.remarks, ["NotComparedByServer"]);
  assert.deepEqual([result.result, result.failures], ["changes", 0]);
});

test("a release that moves to another namespace is deleted there and created here", async () => {
  const templates = { "a.yaml": configMapText("a") };
  const [one, two] = await versionsOf("moves", { templates }, { templates });
  await install("moves", one);

  const { result, text } = await plan(await requestOf("moves", two, { namespace: "elsewhere" }));

  assert.equal(result.result, "changes");
  assert.deepEqual(plannedIn(text), ["ConfigMap elsewhere/a: create", "ConfigMap moves/a: delete"]);
});
