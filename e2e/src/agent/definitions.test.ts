/** What becomes of CustomResourceDefinitions in a chart's templates, and of their objects, with the real Helm. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { DeploymentState } from "@flotilla/proto";
import { agentNamespace } from "@flotilla/shared/api/names";
import {
  configMaps,
  customResourceDefinitions,
  type KubeObject,
  namespaces,
  type Resource,
  serviceAccounts,
} from "@flotilla/shared/kube/objects";
import { afterAll, test } from "vitest";
import { chartArchive } from "../harness/chart-archive.ts";
import { startInstaller } from "../harness/in-process-installer.ts";
import { clusterRoleFor, roleBindings } from "../harness/rbac.ts";
import { releaseHistory, waitForRevision } from "../harness/releases.ts";
import { waitForObject, waitUntilGone } from "../harness/wait.ts";
import { startAgentCluster } from "./agent-cluster.ts";
import { assignmentOf, type DeploymentSpec } from "./assignment.ts";
import { stallingChart } from "./failing-charts.ts";

const run = promisify(execFile);
const { client, charts, spec } = await startAgentCluster();
let agent = await startInstaller(spec);
afterAll(() => agent.stop());

/** Its definition is named by the value `plural`; with the value `bad` the API server refuses what comes after that. */
const config = [
  "apiVersion: v1",
  "kind: ConfigMap",
  "metadata: {name: {{ if .Values.bad }}Not_A_Name{{ else }}{{ .Release.Name }}-config{{ end }}}",
  "data: {greeting: {{ .Values.greeting | quote }}}",
  "",
].join("\n");
const definition = [
  "apiVersion: apiextensions.k8s.io/v1",
  "kind: CustomResourceDefinition",
  "metadata:",
  "  name: {{ .Values.plural }}.example.com",
  "spec:",
  "  group: example.com",
  "  scope: Namespaced",
  "  names: {kind: {{ .Values.plural }}, plural: {{ .Values.plural }}}",
  "  versions:",
  "    - name: v1",
  "      served: true",
  "      storage: true",
  "      schema:",
  "        openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}",
  "",
].join("\n");
const values = "greeting: hello\nbad: false\n";
const full = await chartArchive({
  name: "things",
  version: "1.0.0",
  values,
  templates: { "config.yaml": config, "definition.yaml": definition },
});
const without = await chartArchive({
  name: "things",
  version: "2.0.0",
  values,
  templates: { "config.yaml": config },
});
const stalling = await stallingChart("stalling", "1.0.0");
charts.publish(full, without, stalling);

const refOf = (name: string) => ({ name: `${name}.example.com` });
const thingsOf = (name: string): Resource<KubeObject> => ({
  group: "example.com",
  version: "v1",
  kind: name,
  plural: name,
  namespaced: true,
});
/** In a namespace that no release makes. */
const thing = { namespace: "default", name: "precious" };

async function assign(name: string, wanted: Partial<DeploymentSpec> = {}): Promise<string> {
  const assignment = await assignmentOf({
    name,
    chart: full,
    url: charts.url,
    ...wanted,
    values: { plural: name, ...wanted.values },
  });
  await agent.intake.assign(assignment);
  return assignment.deploymentId;
}

function reportOf(
  deploymentId: string,
  isWanted: (state: DeploymentState) => boolean,
): Promise<DeploymentState> {
  return agent.report((state) => state.deploymentId === deploymentId && isWanted(state));
}

async function ready(name: string, wanted: Partial<DeploymentSpec> = {}): Promise<DeploymentState> {
  return await reportOf(await assign(name, wanted), (state) => state.ready);
}

async function refused(name: string, wanted: Partial<DeploymentSpec>): Promise<DeploymentState> {
  return await reportOf(await assign(name, wanted), ({ phase }) => phase === "failed");
}

async function withdraw(name: string): Promise<void> {
  await agent.intake.withdraw({ name, uid: `uid-${name}` });
  await agent.withdrawn(name);
}

/** Gives what tells whether the definition is the same as now: its objects live as long as it does. */
async function definitionNow(name: string): Promise<() => Promise<void>> {
  const before = await client.reader.get(customResourceDefinitions, refOf(name));
  assert.ok(before !== undefined);
  return async () => {
    const now = await client.reader.get(customResourceDefinitions, refOf(name));
    assert.equal(now?.metadata.uid, before.metadata.uid);
    assert.equal(now?.metadata.deletionTimestamp, undefined);
  };
}

async function policyOf(name: string): Promise<string | undefined> {
  const crd = await client.reader.get(customResourceDefinitions, refOf(name));
  return crd?.metadata.annotations?.["helm.sh/resource-policy"];
}

function definitionGone(name: string): Promise<unknown> {
  return waitUntilGone(client, customResourceDefinitions, refOf(name));
}

const runsFor = (name: string): number =>
  agent.helmRuns.filter((args) => args.includes(name)).length;

test("they and their objects outlive a release that is withdrawn, and belong to it when it is installed again", async () => {
  await ready("lasting");
  const isSame = await definitionNow("lasting");
  // The API server takes two seconds before it serves them.
  await waitForObject(client, thingsOf("lasting"), thing, "served", () => true);
  const made = await client.create(thingsOf("lasting"), { metadata: thing });

  await withdraw("lasting");
  await isSame();
  assert.deepEqual(await releaseHistory(client, "lasting"), []);
  const config = await client.reader.get(configMaps, {
    namespace: "lasting",
    name: "lasting-config",
  });
  assert.equal(config, undefined);

  const again = await ready("lasting", { values: { greeting: "again" } });
  assert.equal(again.counts.ready, 2);
  await isSame();
  const kept = await client.reader.get(thingsOf("lasting"), thing);
  assert.equal(kept?.metadata.uid, made.metadata.uid);
});

test("they outlive a release that somebody else uninstalls, and an agent that starts anew", async () => {
  await ready("by-hand");
  const isSame = await definitionNow("by-hand");
  await agent.stop();

  const env = { ...process.env, KUBECONFIG: spec.kubeconfig };
  await run(spec.helm, ["uninstall", "by-hand", "--namespace=by-hand"], { env });
  await isSame();

  agent = await startInstaller(spec);
  await agent.report(({ name, ready }) => name === "by-hand" && ready);
  await isSame();
});

test("they stay when a newer version of the chart does not contain them any more", async () => {
  await ready("dropped");
  const isSame = await definitionNow("dropped");

  await ready("dropped", { chart: without });

  await isSame();
});

test("they stay when the run that made them failed, whatever comes next", async () => {
  await refused("cut-off", { values: { bad: true } });
  const isSame = await definitionNow("cut-off");
  assert.deepEqual(await releaseHistory(client, "cut-off"), ["1 failed"]);
  assert.equal(await policyOf("cut-off"), undefined);

  await ready("cut-off", { chart: without });
  await isSame();

  await refused("half", { values: { bad: true } });
  const isHalfSame = await definitionNow("half");
  await withdraw("half");
  await isHalfSame();
});

test("what was there before stays when a first install fails that is atomic", async () => {
  await ready("atomic");
  const isSame = await definitionNow("atomic");
  await withdraw("atomic");

  const failed = await refused("atomic", {
    values: { bad: true },
    helm: { atomic: true, timeoutSeconds: 30 },
  });

  assert.match(
    failed.message,
    /Not_A_Name.*; the failed release was uninstalled, as atomic is set; retrying at /,
  );
  assert.deepEqual(await releaseHistory(client, "atomic"), []);
  await isSame();
});

test("they go along with a release that is moved, and belong to it there", async () => {
  await ready("moving");
  const isSame = await definitionNow("moving");

  const moved = await ready("moving", { namespace: "moved", release: "moved" });

  assert.equal(moved.release?.namespace, "moved");
  assert.deepEqual(await releaseHistory(client, "moving"), []);
  await isSame();
  await ready("moving", { namespace: "moved", release: "moved", deleteCRDResources: true });
  await withdraw("moving");
  await definitionGone("moving");
});

test("those that came along can be taken over by somebody else's release", async () => {
  await ready("sought");
  const isSame = await definitionNow("sought");
  await ready("sought", { namespace: "sought-there" });

  await ready("seeker", { values: { plural: "sought" }, helm: { takeOwnership: true } });

  await isSame();
});

test("a first install that waits and is atomic makes room for what is wanted instead", async () => {
  const helm = { atomic: true, timeoutSeconds: 600 };
  await assign("waiting", { chart: stalling, helm, values: { node: true } });
  await waitForRevision(client, "waiting", 1, "pending-install");

  await ready("waiting", { chart: stalling, helm });

  assert.deepEqual(await releaseHistory(client, "waiting"), ["1 deployed"]);
  assert.equal(runsFor("waiting"), 3);
});

test("with deleteCRDResources they go with their release, and it runs no Helm to say so", async () => {
  const kept = await ready("going");
  assert.equal(await policyOf("going"), "keep");

  const freed = await ready("going", { deleteCRDResources: true });

  assert.equal(await policyOf("going"), undefined);
  assert.equal(runsFor("going"), 1);
  assert.equal(freed.release?.revision, kept.release?.revision);
  await withdraw("going");
  await definitionGone("going");
});

test("with deleteCRDResources they go when the chart does not contain them any more, and otherwise stay", async () => {
  await ready("changing", { deleteCRDResources: true });
  await ready("changing");
  assert.equal(await policyOf("changing"), "keep");

  await ready("changing", { deleteCRDResources: true, chart: without });

  await definitionGone("changing");
});

test("an account that may not see them changes nothing of a release that has them, says why, and loses nothing", async () => {
  await ready("walled");
  const isSame = await definitionNow("walled");
  const account = { namespace: agentNamespace, name: "walled" };
  await client.create(serviceAccounts, { metadata: account });
  await client.create(roleBindings, {
    metadata: { namespace: "walled", name: "walled" },
    ...clusterRoleFor("cluster-admin", "walled"),
  });

  const failed = await refused("walled", { chart: without, serviceAccount: "walled" });

  assert.equal(failed.code, "CRDS_NOT_KEPT");
  assert.match(
    failed.message,
    /^keep CustomResourceDefinition walled\.example\.com when its release is uninstalled, as service account flotilla-agent\/walled, which needs the rights to get and to patch it: get customresourcedefinitions.* 403 Forbidden: .*; the release is not changed until then; retrying at /,
  );
  assert.deepEqual(await releaseHistory(client, "walled"), ["1 deployed"]);
  await isSame();

  await withdraw("walled");
  await isSame();
  assert.deepEqual(await releaseHistory(client, "walled"), []);
});

test("a release without any asks for none", async () => {
  await client.create(namespaces, { metadata: { name: "plain" } });
  const account = { namespace: agentNamespace, name: "plain" };
  await client.create(serviceAccounts, { metadata: account });
  await client.create(roleBindings, {
    metadata: { namespace: "plain", name: "plain" },
    ...clusterRoleFor("cluster-admin", "plain"),
  });

  await ready("plain", { chart: without, serviceAccount: "plain" });
  await ready("plain", { chart: without, serviceAccount: "plain", deleteCRDResources: true });

  await withdraw("plain");
  assert.deepEqual(await releaseHistory(client, "plain"), []);
});
