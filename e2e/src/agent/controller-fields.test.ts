/**
 * Upgrades whose server-side apply is in conflict with a controller, where nothing is asked for: they are applied client-side, which
 * sets the field as in the chart, as with Helm 3 and with Flux, and the controller writes it again.
 */
import assert from "node:assert/strict";
import type { DeploymentState } from "@flotilla/proto";
import { deployments, type KubeObject, type Resource } from "@flotilla/shared/kube/objects";
import { afterAll, test } from "vitest";
import { type ChartArchive, chartArchive } from "../harness/chart-archive.ts";
import { startInstaller } from "../harness/in-process-installer.ts";
import { waitForObject } from "../harness/wait.ts";
import { startAgentCluster } from "./agent-cluster.ts";
import { hasCode, isDeployed } from "./agent-reports.ts";
import { assignmentOf } from "./assignment.ts";

interface ClusterRole extends KubeObject {
  readonly rules?: readonly { readonly resources?: readonly string[] }[];
}
const clusterRoles: Resource<ClusterRole> = {
  ...{ group: "rbac.authorization.k8s.io", version: "v1", kind: "ClusterRole" },
  ...{ plural: "clusterroles", namespaced: false },
};

const { client, charts, spec } = await startAgentCluster();
const agent = await startInstaller(spec);
afterAll(() => agent.stop());

async function chart(name: string, version: string, text: string): Promise<ChartArchive> {
  const made = await chartArchive({ name, version, templates: { "a.yaml": text } });
  charts.publish(made);
  return made;
}

async function install(name: string, made: ChartArchive): Promise<DeploymentState> {
  await agent.intake.assign(await assignmentOf({ name, chart: made, url: charts.url }));
  return await agent.report(
    (state) => isDeployed(name, made.version)(state) || hasCode(name, "HELM_FAILED")(state),
  );
}

function releasedText({ conditions = [] }: DeploymentState): string {
  return conditions.find(({ type }) => type === "Released")?.message ?? "";
}

test("an aggregated ClusterRole, whose rules a controller has filled in, is upgraded", async () => {
  const text = (version: string) => `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: all-shops, labels: {version: "${version}"}}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {shop: "true"}}]}
rules: []
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: one-shop, labels: {shop: "true"}}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get]}]
`;
  const isFilled = ({ rules = [] }: ClusterRole) => rules.length === 1;
  const ref = { name: "all-shops" };
  await install("roles", await chart("roles", "1.0.0", text("1.0.0")));
  await waitForObject(client, clusterRoles, ref, "filled in", isFilled);

  const state = await install("roles", await chart("roles", "1.1.0", text("1.1.0")));

  assert.equal(state.message, "");
  assert.match(
    releasedText(state),
    /applied client-side, because server-side apply refuses rules of ClusterRole all-shops: a controller of the cluster has written it/,
  );
  const isUpgraded = ({ metadata }: ClusterRole) => metadata.labels?.["version"] === "1.1.0";
  const again = (role: ClusterRole) => isUpgraded(role) && isFilled(role);
  await waitForObject(client, clusterRoles, ref, "upgraded and filled in", again);
});

test("replicas that an autoscaler has set are no conflict, and those that a person has set are one", async () => {
  const text = (version: string) => `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {version: "${version}"}}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: example.com/web}]}
`;
  const scale = async (namespace: string, fieldManager: string) => {
    const body = { spec: { replicas: 3 } };
    const ref = { namespace, name: "web" };
    await client.patch(deployments, ref, { type: "merge", body }, { fieldManager });
  };
  for (const name of ["scaled", "edited"])
    await install(name, await chart(name, "1.0.0", text("1.0.0")));
  await scale("scaled", "kube-controller-manager");
  await scale("edited", "kubectl-edit");

  const scaled = await install("scaled", await chart("scaled", "1.1.0", text("1.1.0")));
  const edited = await install("edited", await chart("edited", "1.1.0", text("1.1.0")));

  assert.equal(scaled.message, "");
  const web = await client.reader.get(deployments, { namespace: "scaled", name: "web" });
  assert.equal(web?.metadata.labels?.["version"], "1.1.0");
  assert.match(edited.message, /conflict with "kubectl-edit".*\.spec\.replicas/);
});
