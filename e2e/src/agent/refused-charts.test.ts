/** Charts that server-side apply or an update refuses, with the real Helm on a real control plane: they are installed all the same. */
import assert from "node:assert/strict";
import type { AssignmentRequest } from "@flotilla/agent/state";
import type { DeploymentState } from "@flotilla/proto";
import {
  configMaps,
  deployments,
  type KubeObject,
  namespaces,
  type Resource,
} from "@flotilla/shared/kube/objects";
import { afterAll, test } from "vitest";
import { type ChartArchive, chartArchive } from "../harness/chart-archive.ts";
import { startInstaller } from "../harness/in-process-installer.ts";
import { configMapText, rejectedText } from "../harness/object-text.ts";
import { releaseHistory, waitForRevision } from "../harness/releases.ts";
import { waitForObject, waitUntilGone } from "../harness/wait.ts";
import { startAgentCluster } from "./agent-cluster.ts";
import { isDeployed } from "./agent-reports.ts";
import { assignmentOf, type DeploymentSpec } from "./assignment.ts";
import { frozenChart, jobs, pods, webText } from "./unchangeable-charts.ts";

const { client, charts, spec } = await startAgentCluster();
const { url } = charts;
const agent = await startInstaller(spec);
afterAll(() => agent.stop());

/** A Deployment whose container has these fields, and a hook after each installation. */
async function webChart(version: string, container: string): Promise<ChartArchive> {
  const chart = await chartArchive({
    name: "web",
    version,
    templates: {
      "web.yaml": webText(container),
      "hook.yaml": configMapText("installed", { hook: "post-install" }),
    },
  });
  charts.publish(chart);
  return chart;
}

const doubled = await webChart(
  "0.2.0",
  "env: [{name: MODE, value: default}, {name: OTHER, value: x}, {name: MODE, value: custom}]",
);
const unknown = await webChart("0.3.0", "notYetAField: {enabled: true}");

async function assign(
  name: string,
  chart: ChartArchive,
  more: Partial<DeploymentSpec> = {},
): Promise<AssignmentRequest> {
  const request = await assignmentOf({ name, chart, url, ...more });
  await agent.intake.assign(request);
  return request;
}

function settled(name: string, { version }: ChartArchive): Promise<DeploymentState> {
  const isInstalled = isDeployed(name, version);
  return agent.report(
    (state) => isInstalled(state) || (state.name === name && state.phase === "failed"),
  );
}

async function deployed(name: string, chart: ChartArchive): Promise<DeploymentState> {
  const state = await settled(name, chart);
  assert.equal(state.message, "");
  assert.equal(state.phase, "deployed");
  return state;
}

function releasedText({ conditions = [] }: DeploymentState): string {
  return conditions.find(({ type }) => type === "Released")?.message ?? "";
}

async function variables(namespace: string): Promise<readonly string[]> {
  const found = await client.reader.get(deployments, { namespace, name: "web" });
  const [container] = found?.spec?.template.spec?.containers ?? [];
  return (container?.env ?? []).map(({ name, value }) => `${name}=${value}`);
}

function methodsOf(release: string): readonly string[] {
  return agent.helmRuns
    .filter((args) => args.includes(release))
    .map((args) => args.find((arg) => arg.startsWith("--server-side")) ?? "default");
}

test("a variable that is set twice is installed client-side, with a remark and the hooks of an installation", async () => {
  await assign("twice", doubled);

  const state = await deployed("twice", doubled);

  assert.deepEqual(await variables("twice"), ["MODE=default", "OTHER=x", "MODE=custom"]);
  assert.match(
    releasedText(state),
    /applied client-side, because server-side apply refuses spec\.template\.spec\.containers\[name="web"\]\.env of Deployment twice\/web: two entries of it have the same key$/,
  );
  assert.deepEqual(await releaseHistory(client, "twice"), ["1 deployed"]);
  assert.ok(await client.reader.get(configMaps, { namespace: "twice", name: "installed" }));
  assert.deepEqual(methodsOf("twice"), ["default", "--server-side=false"]);
});

test("an object that was copied from a cluster, with its managers, is installed client-side, upgraded and without drift", async () => {
  const copied = (version: string) =>
    chartArchive({
      ...{ name: "copied", version },
      templates: {
        "config.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: config, managedFields: [{manager: kubectl, operation: Update, apiVersion: v1}]}
data: {version: "${version}"}
`,
      },
    });
  for (const version of ["1.0.0", "2.0.0"]) {
    const chart = await copied(version);
    charts.publish(chart);
    await assign("copied", chart, { drift: { mode: "enabled" } });
    const { drift, ...state } = await deployed("copied", chart);
    const config = await client.reader.get(configMaps, { namespace: "copied", name: "config" });
    assert.deepEqual(config?.data, { version });
    assert.deepEqual(drift?.history ?? [], []);
    assert.match(
      releasedText(state),
      /server-side apply refuses metadata\.managedFields of ConfigMap copied\/config: only the API server sets it$/,
    );
  }
});

test("a Deployment becomes Recreate, which server-side apply refuses for what was set by default", async () => {
  for (const [version, strategy] of [
    ["1.0.0", ""],
    ["2.0.0", "strategy: {type: Recreate}"],
  ] as const) {
    const text = webText("ports: []").replace("  selector:", `  ${strategy}\n  selector:`);
    const chart = await chartArchive({
      name: "strategy",
      version,
      templates: { "web.yaml": text },
    });
    charts.publish(chart);
    await assign("strategy", chart, { drift: { mode: "enabled" } });
    const { drift } = await deployed("strategy", chart);
    assert.deepEqual(drift?.history ?? [], []);
  }

  const web = await client.reader.get(deployments, { namespace: "strategy", name: "web" });
  assert.deepEqual(Reflect.get(web?.spec ?? {}, "strategy"), { type: "Recreate" });
  assert.deepEqual(methodsOf("strategy"), ["default", "default", "--server-side=false"]);
});

test("an upgrade to such a chart is applied client-side, and later ones too: each variable is as in the chart", async () => {
  const steps = [
    ["0.4.0", "MODE=default OTHER=x"],
    ["0.5.0", "MODE=default OTHER=x MODE=custom"],
    ["0.6.0", "MODE=other OTHER=x MODE=third"],
    ["0.7.0", "MODE=third OTHER=x"],
    ["0.8.0", "MODE=fourth OTHER=x"],
  ] as const;
  for (const [version, texts] of steps) {
    const env = texts.split(" ").map((text) => {
      const [name, value] = text.split("=");
      return `{name: ${name}, value: ${value}}`;
    });
    const chart = await webChart(version, `env: [${env.join(", ")}]`);
    await assign("steps", chart);
    const state = await deployed("steps", chart);
    assert.deepEqual(await variables("steps"), texts.split(" "));
    assert.equal(releasedText(state).includes("applied client-side"), version !== "0.4.0");
  }
  assert.deepEqual(methodsOf("steps"), [
    "default",
    "default",
    ...Array(4).fill("--server-side=false"),
  ]);
});

test("a rollback to such a chart sets each variable as in that chart", async () => {
  const broken = await chartArchive({
    name: "web",
    version: "0.2.1",
    templates: {
      "web.yaml": webText("env: [{name: MODE, value: broken}]"),
      "rejected.yaml": rejectedText(),
    },
  });
  charts.publish(broken);
  const actions = { upgrade: { remediation: { retries: 0, remediateLastFailure: true } } };
  await assign("back", doubled, { actions });
  await deployed("back", doubled);

  await assign("back", broken, { actions });
  await waitForRevision(client, "back", 3, "deployed");
  await agent.report(({ name, code }) => name === "back" && code === "RETRIES_EXCEEDED");

  assert.deepEqual(await variables("back"), ["MODE=default", "OTHER=x", "MODE=custom"]);
});

test("a field that the cluster does not know is installed without it, also with the defaults of a HelmRelease", async () => {
  const actions = {
    install: { serverSideApply: true },
    upgrade: { serverSideApply: "enabled" },
  } as const;
  await assign("field", unknown, { actions });

  assert.match(
    releasedText(await deployed("field", unknown)),
    /refuses .*notYetAField of Deployment field\/web: this cluster's version of the kind does not have it/,
  );
  assert.deepEqual(methodsOf("field"), ["--server-side=true", "--server-side=false"]);
});

test("a method that a user has chosen is never changed", async () => {
  const actions = { install: { serverSideApply: true }, chosenMethods: ["install"] } as const;
  await assign("chosen", doubled, { actions: { ...actions, chosenMethods: ["install"] } });

  const state = await settled("chosen", doubled);

  assert.equal(state.phase, "failed");
  assert.match(state.message, /duplicate entries for key \[name="MODE"\]/);
  assert.deepEqual(methodsOf("chosen"), ["--server-side=true"]);
});

/** It contains the namespace of its own release, and with `other` set another one, too. */
const placed = await chartArchive({
  name: "placed",
  version: "0.1.0",
  templates: {
    "namespace.yaml": `apiVersion: v1
kind: Namespace
metadata: {name: "{{ .Release.Namespace }}", labels: {example.com/from-chart: "yes"}}
`,
    "config.yaml": configMapText("placed"),
  },
});
charts.publish(placed);

async function fromChart(name: string): Promise<string | undefined> {
  return (await client.reader.get(namespaces, { name }))?.metadata.labels?.[
    "example.com/from-chart"
  ];
}

test("a chart that contains the namespace of its own release is installed, and its uninstallation ends whether the namespace goes last or first", async () => {
  const waiting = { uninstall: { disableWait: false, timeoutSeconds: 30 } };
  const requests = {
    last: await assign("last", placed),
    waited: await assign("waited", placed, { actions: waiting }),
    first: await assign("first", placed),
  };
  const names = Object.keys(requests);
  for (const name of names) {
    await deployed(name, placed);
    assert.equal(await fromChart(name), "yes");
  }

  await client.delete(namespaces, { name: "first" });
  for (const { deployment } of Object.values(requests)) await agent.intake.withdraw(deployment);

  await Promise.all(names.map((name) => agent.withdrawn(name)));
  await Promise.all(names.map((name) => waitUntilGone(client, namespaces, { name })));
  const failed = agent.reports.filter(
    ({ name, phase }) => name === "waited" && phase === "withdrawing",
  );
  assert.deepEqual(
    failed.map(({ message }) => message).filter((message) => message !== ""),
    [],
  );
});

test("a namespace that existed before does not belong to the release", async () => {
  await client.create(namespaces, { metadata: { name: "placed-before" } });
  await assign("placed-before", placed);

  const state = await settled("placed-before", placed);

  assert.equal(state.phase, "failed");
  assert.match(state.message, /Namespace "placed-before" .* exists and cannot be imported/);
  assert.equal(await fromChart("placed-before"), undefined);
});

const frozen = [await frozenChart("1.0.0"), await frozenChart("2.0.0")] as const;
/** Its upgrade fails after the objects were changed. */
const brokenFrozen = await frozenChart("3.0.0", true);
charts.publish(...frozen, brokenFrozen);

async function upgraded(name: string, more: Partial<DeploymentSpec>): Promise<DeploymentState> {
  await assign(name, frozen[0], more);
  await deployed(name, frozen[0]);
  await assign(name, frozen[1], more);
  return await settled(name, frozen[1]);
}

function uidOf(resource: Resource<KubeObject>, namespace: string, name: string) {
  return client.reader.get(resource, { namespace, name }).then((found) => found?.metadata.uid);
}

test.each([
  ["forced", { helm: { force: true } }],
  ["forced-by-flux", { actions: { upgrade: { force: true, serverSideApply: "enabled" } } }],
] as const)(
  "%s: what cannot be changed is deleted and created again, and nothing else",
  async (name, more) => {
    const spec: Partial<DeploymentSpec> = more;
    await assign(name, frozen[0], spec);
    await deployed(name, frozen[0]);
    await waitForObject(client, pods, { namespace: name, name: "db-0" }, "created", () => true);
    const before = [await uidOf(pods, name, "db-0"), await uidOf(jobs, name, "same")];

    await assign(name, frozen[1], spec);
    const state = await deployed(name, frozen[1]);

    const job = await client.reader.get(jobs, { namespace: name, name: "once" });
    assert.equal(job?.spec?.template.spec.containers[0]?.image, "example.com/main:2.0.0");
    assert.match(
      releasedText(state),
      /deleted and created again: Deployment (?:\S+\/)?web, StatefulSet (?:\S+\/)?db, Job (?:\S+\/)?once$/,
    );
    assert.deepEqual([await uidOf(pods, name, "db-0"), await uidOf(jobs, name, "same")], before);
    const [newest] = state.history ?? [];
    assert.ok(newest?.remarks?.some((text) => releasedText(state).endsWith(text)));
  },
);

test.each([
  ["rolled-back", { force: true }],
  ["rolled-back-ssa", { force: true, serverSideApply: "enabled" }],
] as const)("%s: rollback.force replaces what cannot be changed back", async (name, rollback) => {
  const upgrade = { force: true, remediation: { retries: 0, remediateLastFailure: true } };
  const spec: Partial<DeploymentSpec> = { actions: { upgrade, rollback } };
  await assign(name, frozen[0], spec);
  await deployed(name, frozen[0]);

  await assign(name, brokenFrozen, spec);
  await agent.report((state) => state.name === name && state.code === "RETRIES_EXCEEDED");

  const job = await client.reader.get(jobs, { namespace: name, name: "once" });
  assert.equal(job?.spec?.template.spec.containers[0]?.image, "example.com/main:1.0.0");
  const [newest = ""] = (await releaseHistory(client, name)).toReversed();
  assert.match(newest, / deployed$/);
});

test("without rollback.force one sentence says what cannot be changed back", async () => {
  const name = "not-rolled-back";
  const upgrade = { force: true, remediation: { retries: 0, remediateLastFailure: true } };
  await assign(name, frozen[0], { actions: { upgrade } });
  await deployed(name, frozen[0]);

  await assign(name, brokenFrozen, { actions: { upgrade } });
  const state = await agent.report(
    (each) => each.name === name && /helm rollback/.test(each.message),
  );

  assert.match(
    state.message,
    /helm rollback of release not-rolled-back\/not-rolled-back to revision 1: the API server refuses to change spec\.selector of Deployment /,
  );
});

test("force installs a field that the cluster does not know, and upgrades it", async () => {
  const forced = { helm: { force: true } };
  await assign("strict", unknown, forced);
  await deployed("strict", unknown);
  const changed = await webChart(
    "0.9.0",
    "notYetAField: {enabled: true}, env: [{name: A, value: b}]",
  );

  await assign("strict", changed, forced);
  await deployed("strict", changed);

  assert.deepEqual(await variables("strict"), ["A=b"]);
});

test("without force one sentence names the objects and fields", async () => {
  const state = await upgraded("unforced", {});

  assert.equal(state.phase, "failed");
  assert.match(
    state.message,
    /^helm upgrade --install of release unforced\/unforced with chart frozen@2\.0\.0: the API server refuses to change spec\.selector of Deployment unforced\/web, spec of StatefulSet unforced\/db, spec\.template of Job unforced\/once, because the field is immutable; with force it is deleted and created again/,
  );
});

test("a claim is never deleted, and nothing else is, as the upgrade fails all the same", async () => {
  const values = { claim: "ReadWriteOnce" };
  const forced = { helm: { force: true } };
  await assign("claimed", frozen[0], { ...forced, values });
  await deployed("claimed", frozen[0]);
  const before = await uidOf(jobs, "claimed", "once");

  await assign("claimed", frozen[1], { ...forced, values: { claim: "ReadWriteMany" } });
  const state = await settled("claimed", frozen[1]);

  assert.match(
    state.message,
    /because the field is immutable; force never deletes a PersistentVolumeClaim/,
  );
  assert.equal(await uidOf(jobs, "claimed", "once"), before);
});
