/** Drift of objects: reported, corrected, ignored, and fought over, with the real Helm on a real control plane. */
import assert from "node:assert/strict";
import type { DeploymentState } from "@flotilla/proto";
import type { DeploymentContent } from "@flotilla/shared/content";
import { configMaps, deployments, secrets } from "@flotilla/shared/kube/objects";
import { test } from "vitest";
import { chartArchive } from "../harness/chart-archive.ts";
import { clusterRoleBindings, createAdmin } from "../harness/rbac.ts";
import { releaseHistory } from "../harness/releases.ts";
import { waitForObject } from "../harness/wait.ts";
import { startAgentCluster } from "./agent-cluster.ts";
import { assignmentOf } from "./assignment.ts";
import { manyKinds, nullsDefinition } from "./drift-kinds.ts";
import { changesIn, driftedText, driftingChart, hasDrift, hasResult } from "./drifting-chart.ts";
import { startRestartableAgent } from "./restartable-agent.ts";

const { client, charts, spec } = await startAgentCluster();
const { url } = charts;
const agent = await startRestartableAgent(spec);
const change = changesIn(client);

type Drift = NonNullable<DeploymentContent["drift"]>;

const chart = await driftingChart();
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

async function modeIn(namespace: string): Promise<string | undefined> {
  return (await client.reader.get(configMaps, { namespace, name: "config" }))?.data?.["mode"];
}

test("warn reports who changed what, and changes nothing", async () => {
  await install("warned", { mode: "warn" });

  await change(configMaps, "warned", "config", { data: { mode: "wild" } });

  const state = await reported("warned", hasDrift(1));
  assert.ok(state.ready);
  assert.ok(state.drift !== undefined);
  assert.equal(state.drift.isWarning, true);
  const [drifted] = state.drift.objects;
  assert.deepEqual(
    [drifted?.kind, drifted?.namespace, drifted?.name, drifted?.fields, drifted?.manager],
    ["ConfigMap", "warned", "config", ["/data/mode"], "somebody"],
  );
  assert.equal(drifted?.patch, '[{"op":"replace","path":"/data/mode","value":"***"}]');
  assert.match(
    driftedText(state) ?? "",
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
  assert.match(driftedText(state) ?? "", /^True DriftDetected Deployment unset\/web: /);
  assert.equal(
    (await client.reader.get(deployments, { namespace: "unset", name: "web" }))?.spec?.replicas,
    2,
  );
});

async function replicasIn(namespace: string): Promise<number | undefined> {
  return (await client.reader.get(deployments, { namespace, name: "web" }))?.spec?.replicas;
}

async function scale(namespace: string, replicas: number): Promise<void> {
  await change(deployments, namespace, "web", { spec: { replicas } }, "kubectl");
}

test("a request is answered: drift is left, corrected once without Helm, and there is none", async () => {
  await install("requested");
  const ask = async (token: string, more: { readonly correctDrift?: true } = {}) => {
    const request = { token, force: false, reset: false, ...more };
    await agent.intake.assign(await assignmentOf({ name: "requested", chart, url, request }));
    const { request: result } = await reported(
      "requested",
      (state) => state.request?.token === token,
    );
    return result;
  };

  await scale("requested", 5);
  // At once: what a watch has not delivered yet counts as well.
  assert.deepEqual(await ask("1"), {
    ...{ token: "1", result: "DriftLeft", objects: 1, revision: 1 },
  });
  assert.equal(await replicasIn("requested"), 5);
  assert.deepEqual(await ask("2", { correctDrift: true }), {
    ...{ token: "2", result: "DriftCorrected", objects: 1, revision: 1 },
  });
  assert.equal(await replicasIn("requested"), 1);
  assert.deepEqual(await ask("3"), { token: "3", result: "InSync", revision: 1 });
  await agent.restart();
  const { request } = await reported("requested", ({ request }) => request !== undefined);
  assert.deepEqual(request, { token: "3", result: "InSync", revision: 1 });

  await scale("requested", 4);
  await reported("requested", hasDrift(1));
  assert.equal(await replicasIn("requested"), 4, "the correction was for once");
  assert.deepEqual(await releaseHistory(client, "requested"), ["1 deployed"]);
});

test("a forced upgrade takes the fields that others have, and says whose they were", async () => {
  await install("taken");
  await scale("taken", 5);
  await reported("taken", hasDrift(1));

  const request = { token: "1", force: true, reset: false };
  await agent.intake.assign(await assignmentOf({ name: "taken", chart, url, request }));
  const state = await reported("taken", ({ request }) => request?.token === "1");

  assert.deepEqual(state.request, { token: "1", result: "Upgraded", revision: 2 });
  assert.deepEqual(state.history?.[0]?.remarks, [
    "taken from other managers: /spec/replicas of Deployment taken/web from kubectl",
  ]);
  assert.equal(await replicasIn("taken"), 1);
  assert.deepEqual(await releaseHistory(client, "taken"), ["1 superseded", "2 deployed"]);
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
    driftedText(state) ?? "",
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
    /; 1 object could not be compared: .*403 Forbidden/.test(driftedText(state) ?? ""),
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
    driftedText(state) ?? "",
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
    driftedText(failed) ?? "",
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
    driftedText(state) ?? "",
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
  const many = await chartArchive({
    ...{ name: "many", version: "1.0.0" },
    crds: { "nulls.yaml": nullsDefinition },
    templates: manyKinds,
  });
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
