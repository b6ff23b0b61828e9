/** Drift of objects: reported, corrected, ignored, and fought over, with the real Helm on a real control plane. */
import assert from "node:assert/strict";
import type { DeploymentState } from "@flotilla/proto";
import type { DeploymentContent } from "@flotilla/shared/content";
import {
  configMaps,
  deployments,
  type KubeObject,
  type Resource,
  secrets,
} from "@flotilla/shared/kube/objects";
import { test } from "vitest";
import { chartArchive } from "../harness/chart-archive.ts";
import { clusterRoleBindings, createAdmin } from "../harness/rbac.ts";
import { releaseHistory } from "../harness/releases.ts";
import { waitForObject } from "../harness/wait.ts";
import { startAgentCluster } from "./agent-cluster.ts";
import { assignmentOf } from "./assignment.ts";
import { manyKinds } from "./drift-kinds.ts";
import { startRestartableAgent } from "./restartable-agent.ts";

const { client, charts, spec } = await startAgentCluster();
const { url } = charts;
const agent = await startRestartableAgent(spec);

type Drift = NonNullable<DeploymentContent["drift"]>;

const chart = await chartArchive({
  ...{ name: "app", version: "1.0.0" },
  templates: {
    "config.yaml":
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config}\ndata: {mode: calm}\n",
    "secret.yaml":
      "apiVersion: v1\nkind: Secret\nmetadata: {name: secret}\nstringData: {password: correct-horse}\n",
    "service.yaml":
      "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: web}, ports: [{port: 80}]}\n",
    "web.yaml": `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: example.com/web:1, env: [{name: A, value: "1"}]}]}
`,
  },
});
charts.publish(chart);

async function install(name: string, drift?: Drift): Promise<void> {
  const more = drift === undefined ? {} : { drift };
  await agent.intake.assign(await assignmentOf({ name, chart, url, ...more }));
  await agent.report((state) => state.name === name && state.phase === "deployed" && state.ready);
}

function reported(
  name: string,
  isDesired: (state: DeploymentState) => boolean,
): Promise<DeploymentState> {
  return agent.report((state) => state.name === name && isDesired(state));
}

function hasDrift(count: number) {
  return ({ drift }: DeploymentState): boolean => (drift?.count ?? 0) === count;
}

function hasResult(result: string) {
  return ({ drift }: DeploymentState): boolean =>
    drift?.history.some((each) => each.result === result) === true;
}

function conditionOf({ conditions }: DeploymentState): string | undefined {
  const found = conditions?.find(({ type }) => type === "Drifted");
  return found && `${found.status} ${found.reason} ${found.message}`;
}

/** As somebody else. */
async function change<T extends KubeObject>(
  resource: Resource<T>,
  namespace: string,
  name: string,
  body: unknown,
  fieldManager = "somebody",
): Promise<void> {
  await client.patch(resource, { namespace, name }, { type: "merge", body }, { fieldManager });
}

async function modeIn(namespace: string): Promise<string | undefined> {
  return (await client.reader.get(configMaps, { namespace, name: "config" }))?.data?.["mode"];
}

test("warn reports who changed what, and changes nothing", async () => {
  await install("warned", { mode: "warn" });

  await change(configMaps, "warned", "config", { data: { mode: "wild" } });

  const state = await reported("warned", hasDrift(1));
  assert.ok(state.ready);
  const [drifted] = state.drift?.objects ?? [];
  assert.deepEqual(
    [drifted?.kind, drifted?.namespace, drifted?.name, drifted?.fields, drifted?.manager],
    ["ConfigMap", "warned", "config", ["/data/mode"], "somebody"],
  );
  assert.equal(drifted?.patch, '[{"op":"replace","path":"/data/mode","value":"***"}]');
  assert.match(
    conditionOf(state) ?? "",
    /^True DriftDetected ConfigMap warned\/config: \/data\/mode was changed by somebody at /,
  );
  assert.equal(await modeIn("warned"), "wild");

  await change(configMaps, "warned", "config", { data: { mode: "calm" } });
  const before = agent.reports.indexOf(state);
  await reported("warned", (each) => agent.reports.indexOf(each) > before && hasDrift(0)(each));
});

test("unset, drift is reported and not corrected, and the rest is in sync", async () => {
  await install("unset");

  await change(deployments, "unset", "web", { spec: { replicas: 2 } });

  const state = await reported("unset", hasDrift(1));
  assert.deepEqual(state.drift?.objects[0]?.fields, ["/spec/replicas"]);
  assert.match(conditionOf(state) ?? "", /^True DriftDetected Deployment unset\/web: /);
  assert.equal(
    (await client.reader.get(deployments, { namespace: "unset", name: "web" }))?.spec?.replicas,
    2,
  );
});

test("disabled, nothing is compared", async () => {
  await install("disabled", { mode: "disabled" });

  await change(configMaps, "disabled", "config", { data: { mode: "wild" } });
  // A later change of another release, whose report comes after that of the first.
  await change(configMaps, "unset", "config", { data: { mode: "wild" } });
  await reported("unset", hasDrift(2));

  assert.ok(agent.reports.every(({ name, drift }) => name !== "disabled" || drift === undefined));
});

test("enabled corrects a changed field and a deleted object without a revision of Helm", async () => {
  await install("corrected", { mode: "enabled" });

  await change(configMaps, "corrected", "config", { data: { mode: "wild" } });
  await reported("corrected", hasResult("Corrected"));
  assert.equal(await modeIn("corrected"), "calm");

  await client.delete(deployments, { namespace: "corrected", name: "web" });
  await waitForObject(
    client,
    deployments,
    { namespace: "corrected", name: "web" },
    "created again",
    (found) => found.metadata.deletionTimestamp === undefined,
  );
  const state = await reported(
    "corrected",
    ({ drift }) => drift?.count === 0 && drift.history[0]?.kind === "Deployment",
  );
  assert.match(
    conditionOf(state) ?? "",
    /^False DriftCorrected corrected Deployment corrected\/web/,
  );
  assert.deepEqual(
    state.drift?.history.map(({ kind, result, fields, manager }) => [
      kind,
      result,
      fields,
      manager,
    ]),
    [
      ["Deployment", "Corrected", [], undefined],
      ["ConfigMap", "Corrected", ["/data/mode"], "somebody"],
    ],
  );
  assert.deepEqual(await releaseHistory(client, "corrected"), ["1 deployed"]);
  assert.equal(agent.helmRuns.filter((args) => args.includes("corrected")).length, 1);
});

test("what is ignored is neither reported nor corrected, also beside a field that is", async () => {
  await install("ignored", {
    mode: "enabled",
    ignore: [{ paths: ["/spec/replicas"], target: { kind: "Deployment", name: "w.b" } }],
  });

  await change(deployments, "ignored", "web", { spec: { replicas: 3 } });
  await change(deployments, "ignored", "web", {
    spec: { replicas: 3, minReadySeconds: 1 },
    metadata: { labels: { app: "other" } },
  });

  const state = await reported("ignored", hasResult("Corrected"));
  assert.deepEqual(state.drift?.history.find(({ result }) => result === "Corrected")?.fields, [
    "/metadata/labels/app",
  ]);
  const web = await client.reader.get(deployments, { namespace: "ignored", name: "web" });
  assert.deepEqual([web?.spec?.replicas, web?.metadata.labels?.["app"]], [3, "web"]);
});

test("drift is corrected with the rights of the deployment's account, once it has them", async () => {
  const serviceAccount = "corrector";
  await createAdmin(client, serviceAccount);
  const drift = { mode: "enabled" } as const;
  await agent.intake.assign(
    await assignmentOf({ name: "account", chart, url, drift, serviceAccount }),
  );
  await reported("account", ({ ready }) => ready);
  const admin = await client.get(clusterRoleBindings, { name: serviceAccount });
  await client.delete(clusterRoleBindings, { name: serviceAccount });

  await change(configMaps, "account", "config", { data: { mode: "wild" } });
  await reported("account", (state) =>
    /; 1 object could not be compared: .*403 Forbidden/.test(conditionOf(state) ?? ""),
  );
  assert.equal(await modeIn("account"), "wild");

  assert.ok(admin !== undefined);
  const { roleRef, subjects } = admin;
  await client.create(clusterRoleBindings, {
    metadata: { name: serviceAccount },
    roleRef,
    subjects,
  });
  await reported("account", hasResult("Corrected"));
  assert.equal(await modeIn("account"), "calm");
});

test("a field that somebody has added is reported with its manager, and kept", async () => {
  await install("foreign", { mode: "enabled" });

  await change(configMaps, "foreign", "config", { data: { extra: "1" } }, "kubectl-edit");
  const state = await reported("foreign", hasResult("Foreign"));
  await change(configMaps, "foreign", "config", { data: { mode: "wild" } });
  await reported("foreign", hasResult("Corrected"));

  assert.equal(state.drift?.count, 0);
  assert.match(
    conditionOf(state) ?? "",
    /^False NoDriftDetected the objects are as desired; kept: ConfigMap foreign\/config \/data\/extra, added by kubectl-edit at 20/,
  );
  const config = await client.reader.get(configMaps, { namespace: "foreign", name: "config" });
  assert.deepEqual(config?.data, { mode: "calm", extra: "1" });
});

test("a changed Secret is corrected, and its texts are nowhere", async () => {
  await install("masked", { mode: "enabled" });

  await change(secrets, "masked", "secret", { data: { password: "d3Jvbmctc3RhcGxl" } });

  const state = await reported("masked", hasResult("Corrected"));
  assert.deepEqual(state.drift?.history[0]?.fields, ["/data/password"]);
  const secret = await client.reader.get(secrets, { namespace: "masked", name: "secret" });
  assert.equal(secret?.data?.["password"], Buffer.from("correct-horse").toString("base64"));
  const texts = JSON.stringify(agent.reports.filter(({ name }) => name === "masked"));
  for (const text of ["correct-horse", "wrong-staple", "d3Jvbmc", "Y29ycmVjdC"])
    assert.ok(!texts.includes(text), text);
});

test("an object that cannot be changed back is reported, and recreated where that is forced", async () => {
  const frozen = { data: { mode: "wild" }, immutable: true };
  await install("frozen", { mode: "enabled" });
  await install("forced", { mode: "enabled", force: true });
  const uid = (await client.reader.get(configMaps, { namespace: "forced", name: "config" }))
    ?.metadata.uid;

  for (const name of ["frozen", "forced"]) await change(configMaps, name, "config", frozen);

  const failed = await reported("frozen", hasResult("CorrectionFailed"));
  assert.match(
    conditionOf(failed) ?? "",
    /^True DriftCorrectionFailed ConfigMap frozen\/config cannot be changed back: the API server rejects the change of data; .*was not corrected/,
  );
  await reported("forced", hasResult("Corrected"));
  const recreated = await client.reader.get(configMaps, { namespace: "forced", name: "config" });
  assert.equal(recreated?.data?.["mode"], "calm");
  assert.notEqual(recreated.metadata.uid, uid);
});

test("a release that was applied by the client is in sync, corrected, and upgraded as before", async () => {
  const helm = { force: true };
  const drift = { mode: "enabled" } as const;
  const content = { name: "client-side", chart, url, helm, drift };
  await agent.intake.assign(await assignmentOf(content));
  await reported("client-side", ({ ready }) => ready);

  await change(deployments, "client-side", "web", { spec: { replicas: 0 } });
  const { drift: found } = await reported("client-side", hasResult("Corrected"));

  assert.deepEqual(
    found?.history.map(({ fields }) => fields),
    [["/spec/replicas"]],
  );
  await agent.intake.assign(await assignmentOf({ ...content, values: { another: "value" } }));
  await reported("client-side", ({ release, ready }) => ready && release?.revision === 2);
  assert.deepEqual(await releaseHistory(client, "client-side"), ["1 superseded", "2 deployed"]);
});

test("the agent backs off when another controller fights, and names it", async () => {
  await install("fought", { mode: "enabled" });
  for (let corrections = 0; corrections < 3; corrections += 1) {
    await change(
      configMaps,
      "fought",
      "config",
      { data: { mode: `wild-${corrections}` } },
      "rival",
    );
    await waitForObject(
      client,
      configMaps,
      { namespace: "fought", name: "config" },
      "calm",
      ({ data }) => data?.["mode"] === "calm",
    );
  }

  await change(configMaps, "fought", "config", { data: { mode: "wild" } }, "rival");

  const state = await reported("fought", hasResult("BackedOff"));
  assert.match(
    conditionOf(state) ?? "",
    /^True DriftDetected .*; \/data\/mode was corrected three times in ten minutes and rival changed it back each time: not corrected before 20/,
  );
  assert.equal(await modeIn("fought"), "wild");
});

test("drift that occurs while the agent is not running is found at its start, and a paused release is left alone", async () => {
  await install("started", { mode: "enabled" });
  await install("paused", { mode: "enabled" });
  const request = await assignmentOf({ name: "paused", chart, url, drift: { mode: "enabled" } });
  await agent.intake.assign({ ...request, paused: true });
  await agent.stop();
  for (const name of ["started", "paused"])
    await change(configMaps, name, "config", { data: { mode: "wild" } });

  await agent.start();

  await reported("started", hasResult("Corrected"));
  assert.equal(await modeIn("started"), "calm");
  await agent.report(({ name }) => name === "paused");
  assert.equal(await modeIn("paused"), "wild");
});

/** Changes one object and changes it back: those that were to be compared before were. */
async function comparedAll(): Promise<void> {
  for (const [mode, count] of [
    ["wild", 1],
    ["calm", 0],
  ] as const) {
    const before = agent.reports.length;
    await change(configMaps, "many", "config", { data: { mode } });
    await reported(
      "many",
      (state) => agent.reports.indexOf(state) >= before && hasDrift(count)(state),
    );
  }
}

test("objects of many kinds have no drift after an installation, an upgrade and a start", async () => {
  const many = await chartArchive({ name: "many", version: "1.0.0", templates: manyKinds });
  charts.publish(many);
  const content = { name: "many", chart: many, url };
  for (const revision of [1, 2]) {
    await agent.intake.assign(await assignmentOf({ ...content, values: { revision } }));
    await reported(
      "many",
      ({ phase, release }) => phase === "deployed" && release?.revision === revision,
    );
    await comparedAll();
  }
  const found = agent.reports;
  await agent.restart();
  await comparedAll();

  const objects = [...found, ...agent.reports]
    .filter(({ name }) => name === "many")
    .flatMap(({ drift }) => drift?.objects ?? [])
    .map(({ kind, name, fields }) => `${kind} ${name}: ${fields.join()}`);
  assert.deepEqual([...new Set(objects)], ["ConfigMap config: /data/mode"]);
});
