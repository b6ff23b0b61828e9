/** What a HelmRelease has from its namespace on the hub, values and accounts, and records of Flux, with the real Helm. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { testDir } from "@flotilla/local/testing";
import type { DeploymentState } from "@flotilla/proto";
import { namespaces, secrets, serviceAccounts } from "@flotilla/shared/kube/objects";
import { packReferencedObject, type ReferencedObjectData } from "@flotilla/shared/referenced";
import { afterAll, test } from "vitest";
import { startInstaller } from "../harness/in-process-installer.ts";
import { roleBindings } from "../harness/rbac.ts";
import { installedConfig, releaseHistory } from "../harness/releases.ts";
import { startAgentCluster } from "./agent-cluster.ts";
import { assignmentOf, type DeploymentSpec } from "./assignment.ts";
import { appChart } from "./test-charts.ts";

const { client, charts, spec } = await startAgentCluster();
const { url } = charts;
const agent = await startInstaller(spec);
afterAll(() => agent.stop());

const chart = await appChart("1.0.0");
charts.publish(chart);
const dir = await testDir({ onTestFinished: afterAll });
const archive = join(dir, "app.tgz");
await writeFile(archive, chart.bytes);
const run = promisify(execFile);

async function assign(name: string, more: Partial<DeploymentSpec> = {}): Promise<void> {
  await agent.intake.assign(await assignmentOf({ name, chart, url, ...more }));
}

async function send(kind: "Secret" | "ConfigMap", name: string, texts?: Record<string, string>) {
  const encode = (text: string) => (kind === "Secret" ? base64(text) : text);
  const data = Object.fromEntries(
    Object.entries(texts ?? {}).map(([key, text]) => [key, encode(text)]),
  );
  const object: ReferencedObjectData = { data };
  const { digest, bytes } = await packReferencedObject(object);
  await agent.intake.setReferencedObject({
    ...{ kind, name },
    ...(texts !== undefined && { packed: { digest, content: bytes } }),
  });
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

function deployed(name: string, revision: number): Promise<DeploymentState> {
  return agent.report(
    (state) =>
      state.name === name && state.phase === "deployed" && state.release?.revision === revision,
  );
}

function failed(name: string, code: string): Promise<DeploymentState> {
  return agent.report((state) => state.name === name && state.code === code);
}

const user = (namespace: string, name: string) => `system:serviceaccount:${namespace}:${name}`;

/** An account that may do everything in these namespaces, which are created. */
async function createAccount(namespace: string, name: string, ...places: readonly string[]) {
  for (const place of places) {
    await client.create(roleBindings, {
      metadata: { namespace: place, name },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "admin" },
      subjects: [{ kind: "ServiceAccount", namespace, name }],
    });
  }
  await client.create(serviceAccounts, { metadata: { namespace, name } });
}

test("values of the hub are merged as Flux merges them, and a change of one upgrades the release", async () => {
  await assign("merged", {
    values: { big: 2 },
    hubValues: [
      { kind: "Secret", name: "apps/login", key: "greeting", targetPath: "greeting" },
      { kind: "ConfigMap", name: "apps/base", key: "values.yaml" },
      { kind: "ConfigMap", name: "apps/none", key: "values.yaml", optional: true },
    ],
  });
  await send("ConfigMap", "apps/base", { "values.yaml": "{greeting: base, big: 1}" });
  await send("ConfigMap", "apps/none");
  await send("Secret", "apps/login", { greeting: "'12'" });
  await deployed("merged", 1);

  const first = await installedConfig(client, "merged");
  assert.deepEqual([first?.data?.["greeting"], first?.data?.["big"]], ["12", "2"]);

  await send("ConfigMap", "apps/base", { "values.yaml": "{greeting: base, big: 1} # the same" });
  await send("Secret", "apps/login", { greeting: "new" });
  await deployed("merged", 2);

  assert.equal((await installedConfig(client, "merged"))?.data?.["greeting"], "new");
  assert.equal(agent.helmRuns.filter((args) => args.includes("merged")).length, 2);
});

test("a value that Helm rejects is reported, and what a Secret has is masked", async () => {
  const source = { kind: "Secret", name: "apps/rude", key: "greeting" } as const;
  await assign("rude", { hubValues: [{ ...source, targetPath: "greeting.a" }] });
  await send("Secret", "apps/rude", { greeting: "hunter2,hunter3" });
  const { message } = await failed("rude", "VALUES_SOURCE_INVALID");
  assert.match(message, /key greeting of Secret apps\/rude of the hub cannot be set at targetPath/);

  await send("Secret", "apps/rude", { other: "x" });
  const missing = await failed("rude", "VALUES_SOURCE_MISSING");
  assert.match(missing.message, /^key greeting not found in Secret apps\/rude of the hub/);

  for (const state of agent.reports) assert.doesNotMatch(state.message, /hunter/);
});

test("a release is installed as an account of any namespace that the hub chose, with its rights alone", async () => {
  for (const name of ["tenant", "placed", "denied"])
    await client.create(namespaces, { metadata: { name } });
  const serviceAccount = user("tenant", "deployer");
  await assign("placed", { serviceAccount });
  const missing = await failed("placed", "SERVICE_ACCOUNT_MISSING");
  assert.match(missing.message, /^service account tenant\/deployer not found/);

  await createAccount("tenant", "deployer", "placed");
  await deployed("placed", 1);
  await assign("denied", { serviceAccount });
  const denied = await failed("denied", "HELM_FAILED");

  assert.match(denied.message, /service account tenant\/deployer may not/);
  assert.equal(await installedConfig(client, "denied"), undefined);
});

test("a release whose records Flux has stored in another namespace is adopted with one upgrade", async () => {
  for (const name of ["flux", "shop"]) await client.create(namespaces, { metadata: { name } });
  await createAccount("flux", "deployer", "flux", "shop");
  const env = { PATH: process.env["PATH"], HOME: dir, KUBECONFIG: spec.kubeconfig };
  await run(spec.helm, ["install", "moved", archive, "--namespace=shop"], { env });
  await run(spec.helm, ["upgrade", "moved", archive, "--namespace=shop", "--set=big=7"], { env });
  for (const revision of [1, 2]) {
    const name = `sh.helm.release.v1.moved.v${revision}`;
    const record = await client.reader.get(secrets, { namespace: "shop", name });
    assert.ok(record);
    const { labels = {} } = record.metadata;
    await client.create(secrets, { ...record, metadata: { namespace: "flux", name, labels } });
    await client.delete(secrets, { namespace: "shop", name });
  }
  const before = await installedConfig(client, "moved", "shop");
  const adopted: Partial<DeploymentSpec> = {
    namespace: "shop",
    recordsNamespace: "flux",
    serviceAccount: user("flux", "deployer"),
    values: { greeting: "adopted" },
  };

  await assign("moved", adopted);
  const { message } = await failed("moved", "RELEASE_EXISTS");
  assert.match(message, /in revision 2 with its records in namespace flux, /);
  assert.deepEqual(await releaseHistory(client, "shop"), []);
  await assign("moved", { ...adopted, helm: { takeOwnership: true, maxHistory: 5 } });
  await deployed("moved", 3);

  const after = await installedConfig(client, "moved", "shop");
  assert.equal(after?.data?.["greeting"], "adopted");
  assert.ok(before?.metadata.uid);
  assert.equal(after.metadata.uid, before.metadata.uid);
  assert.deepEqual(await releaseHistory(client, "shop"), [
    "1 superseded",
    "2 superseded",
    "3 deployed",
  ]);
  assert.deepEqual(await releaseHistory(client, "flux"), []);
  assert.deepEqual(
    agent.helmRuns.filter((args) => args.includes("moved")).map(([command]) => command),
    ["upgrade"],
  );
});
