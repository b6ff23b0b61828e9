/** CustomResourceDefinitions in the templates of a chart, and their objects, with the real Helm. */

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
import { test } from "vitest";
import { chartArchive } from "../harness/chart-archive.ts";
import { clusterRoleFor, roleBindings } from "../harness/rbac.ts";
import { releaseHistory, waitForRevision } from "../harness/releases.ts";
import { waitUntilGone } from "../harness/wait.ts";
import { startAgentCluster } from "./agent-cluster.ts";
import { assignmentOf, type DeploymentSpec } from "./assignment.ts";
import { startRestartableAgent } from "./restartable-agent.ts";
import { stallingChart } from "./test-charts.ts";

const run = promisify(execFile);
const { client, charts, spec } = await startAgentCluster();
const agent = await startRestartableAgent(spec);

/** Its definition is named by the value `plural`; with the value `bad` the API server rejects the objects after it. */
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
/** In a namespace that no release creates. */
const thing = { namespace: "default", name: "precious" };

async function assign(name: string, deployment: Partial<DeploymentSpec> = {}): Promise<string> {
  const assignment = await assignmentOf({
    name,
    chart: full,
    url: charts.url,
    ...deployment,
    values: { plural: name, ...deployment.values },
  });
  await agent.intake.assign(assignment);
  return assignment.deploymentId;
}

function reportOf(
  deploymentId: string,
  isDesired: (state: DeploymentState) => boolean,
): Promise<DeploymentState> {
  return agent.report((state) => state.deploymentId === deploymentId && isDesired(state));
}

async function ready(
  name: string,
  deployment: Partial<DeploymentSpec> = {},
): Promise<DeploymentState> {
  return await reportOf(await assign(name, deployment), (state) => state.ready);
}

async function rejected(
  name: string,
  deployment: Partial<DeploymentSpec>,
): Promise<DeploymentState> {
  return await reportOf(await assign(name, deployment), ({ phase }) => phase === "failed");
}

test("a definition that common metadata has changed outlives its release, too", async () => {
  await ready("labelled", { commonMetadata: { annotations: { note: "common" } } });
  const installed = await client.reader.get(customResourceDefinitions, refOf("labelled"));
  assert.equal(installed?.metadata.annotations?.["note"], "common");
  assert.deepEqual(await releaseHistory(client, "labelled"), ["1 deployed"]);

  await withdraw("labelled");

  const left = await client.reader.get(customResourceDefinitions, refOf("labelled"));
  assert.equal(left?.metadata.uid, installed.metadata.uid);
});

async function withdraw(name: string): Promise<void> {
  await agent.intake.withdraw({ name, uid: `uid-${name}` });
  await agent.withdrawn(name);
}

/** Resolves with an assertion that the definition is still the same; its objects exist as long as it does. */
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

test("they and their objects outlive a withdrawn release, and belong to it when it is installed again", async () => {
  await ready("lasting");
  const isSame = await definitionNow("lasting");
  // Resolves once the API server serves the kind, which takes it two seconds.
  await waitUntilGone(client, thingsOf("lasting"), thing);
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

test("they outlive a release that is uninstalled by hand, and a restart of the agent", async () => {
  await ready("by-hand");
  const isSame = await definitionNow("by-hand");
  await agent.stop();

  const env = { ...process.env, KUBECONFIG: spec.kubeconfig };
  await run(spec.helm, ["uninstall", "by-hand", "--namespace=by-hand"], { env });
  await isSame();

  await agent.start();
  await agent.report(({ name, ready }) => name === "by-hand" && ready);
  await isSame();
});

test("they stay when a newer version of the chart does not contain them", async () => {
  await ready("dropped");
  const isSame = await definitionNow("dropped");

  await ready("dropped", { chart: without });

  await isSame();
});

test("they stay when the run that created them failed, and after later runs", async () => {
  await rejected("cut-off", { values: { bad: true } });
  const isSame = await definitionNow("cut-off");
  assert.deepEqual(await releaseHistory(client, "cut-off"), ["1 failed"]);
  assert.equal(await policyOf("cut-off"), undefined);

  await ready("cut-off", { chart: without });
  await isSame();

  await rejected("half", { values: { bad: true } });
  const isHalfSame = await definitionNow("half");
  await withdraw("half");
  await isHalfSame();
});

test("existing ones stay when an atomic first install fails", async () => {
  await ready("atomic");
  const isSame = await definitionNow("atomic");
  await withdraw("atomic");

  const failed = await rejected("atomic", {
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

test("they belong to a release that is moved, also at its new place", async () => {
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

test("those of a moved release can be adopted by another release", async () => {
  await ready("adopted");
  const isSame = await definitionNow("adopted");
  await ready("adopted", { namespace: "adopted-moved" });

  await ready("adopter", { values: { plural: "adopted" }, helm: { takeOwnership: true } });

  await isSame();
});

test("an atomic first install that waits is replaced by a newer assignment", async () => {
  const helm = { atomic: true, timeoutSeconds: 600 };
  await assign("waiting", { chart: stalling, helm, values: { node: true } });
  await waitForRevision(client, "waiting", 1, "pending-install");

  await ready("waiting", { chart: stalling, helm });

  assert.deepEqual(await releaseHistory(client, "waiting"), ["1 deployed"]);
  assert.equal(runsFor("waiting"), 3);
});

test("with deleteCRDResources they are deleted with their release, and the change of the field runs no Helm", async () => {
  const kept = await ready("going");
  assert.equal(await policyOf("going"), "keep");

  const freed = await ready("going", { deleteCRDResources: true });

  assert.equal(await policyOf("going"), undefined);
  assert.equal(runsFor("going"), 1);
  assert.equal(freed.release?.revision, kept.release?.revision);
  await withdraw("going");
  await definitionGone("going");
});

test("with deleteCRDResources they are deleted when the chart does not contain them, and otherwise stay", async () => {
  await ready("changing", { deleteCRDResources: true });
  await ready("changing");
  assert.equal(await policyOf("changing"), "keep");

  await ready("changing", { deleteCRDResources: true, chart: without });

  await definitionGone("changing");
});

test("an account that may not read them changes nothing in a release that has them, and reports why", async () => {
  await ready("restricted");
  const isSame = await definitionNow("restricted");
  const account = { namespace: agentNamespace, name: "restricted" };
  await client.create(serviceAccounts, { metadata: account });
  await client.create(roleBindings, {
    metadata: { namespace: "restricted", name: "restricted" },
    ...clusterRoleFor("cluster-admin", "restricted"),
  });

  const failed = await rejected("restricted", { chart: without, serviceAccount: "restricted" });

  assert.equal(failed.code, "CRDS_NOT_KEPT");
  assert.match(
    failed.message,
    /^keep CustomResourceDefinition restricted\.example\.com when its release is uninstalled, as service account flotilla-agent\/restricted, which needs the rights to get and to patch it: get customresourcedefinitions.* 403 Forbidden: .*; the release is not changed until then; retrying at /,
  );
  assert.deepEqual(await releaseHistory(client, "restricted"), ["1 deployed"]);
  await isSame();

  await withdraw("restricted");
  await isSame();
  assert.deepEqual(await releaseHistory(client, "restricted"), []);
});

test("a release without any needs no rights for them", async () => {
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
