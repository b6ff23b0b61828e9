/**
 * What controllers write. Upgrades whose server-side apply is in conflict with one, where nothing is asked for, are applied client-side,
 * which sets the field as in the chart, as with Helm 3 and with Flux, and the controller writes it again. It is not drift, nor is what
 * Kubernetes removes once it has done its work.
 */
import assert from "node:assert/strict";
import type { DeploymentState } from "@flotilla/proto";
import {
  configMaps,
  customResourceDefinitions,
  deployments,
  type KubeObject,
  type ObjectRef,
  type Resource,
  secrets,
} from "@flotilla/shared/kube/objects";
import { afterAll, test } from "vitest";
import { type ChartArchive, chartArchive } from "../harness/chart-archive.ts";
import { startInstaller } from "../harness/in-process-installer.ts";
import { releaseHistory } from "../harness/releases.ts";
import { waitForObject, waitUntilGone } from "../harness/wait.ts";
import { startAgentCluster } from "./agent-cluster.ts";
import { hasCode, isDeployed } from "./agent-reports.ts";
import { assignmentOf } from "./assignment.ts";
import { filledObjects, filledWebhook } from "./filled-objects.ts";
import { jobs, pods } from "./unchangeable-charts.ts";

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

const clusterWide = { version: "v1", namespaced: false } as const;
const admission = { ...clusterWide, group: "admissionregistration.k8s.io" } as const;
const nodes: Resource<KubeObject> = {
  ...{ ...clusterWide, group: "", kind: "Node", plural: "nodes" },
};
const apiServices: Resource<KubeObject> = {
  ...{ ...clusterWide, group: "apiregistration.k8s.io" },
  ...{ kind: "APIService", plural: "apiservices" },
};
const signingRequests: Resource<KubeObject> = {
  ...{ ...clusterWide, group: "certificates.k8s.io" },
  ...{ kind: "CertificateSigningRequest", plural: "certificatesigningrequests" },
};
/** What others write into objects of `filledObjects`. */
function injections(
  caBundle: string,
): readonly (readonly [Resource<KubeObject>, string, object])[] {
  const webhooks = ["Mutating", "Validating"].map(
    (word): [Resource<KubeObject>, string, object] => {
      const kind = `${word}WebhookConfiguration`;
      const resource = { ...admission, kind, plural: `${kind.toLowerCase()}s` };
      return [
        resource,
        "drift-filled",
        {
          webhooks: [
            { ...filledWebhook, clientConfig: { ...filledWebhook.clientConfig, caBundle } },
          ],
        },
      ];
    },
  );
  return [
    ...webhooks,
    [
      customResourceDefinitions,
      "filleds.filled.drift.example.com",
      { spec: { conversion: { webhook: { clientConfig: { caBundle } } } } },
    ],
    [apiServices, "v1.served.drift.example.com", { spec: { caBundle } }],
  ];
}

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

test("what others fill in is not drift, and what is removed once it has ended is not made again", async () => {
  const made = await chartArchive({ name: "filled", version: "1.0.0", templates: filledObjects });
  charts.publish(made);
  const content = {
    name: "filled",
    chart: made,
    url: charts.url,
    drift: { mode: "enabled" } as const,
  };
  await agent.intake.assign(await assignmentOf(content));
  await agent.report(isDeployed("filled", made.version));
  const own = (name: string) => ({ namespace: "filled", name });
  const token = (name: string) => ({ namespace: "kube-system", name });
  const all: readonly (readonly [Resource<KubeObject>, ended: ObjectRef, others: ObjectRef])[] = [
    [jobs, own("ended"), own("waiting")],
    [pods, own("ended"), own("running")],
    [signingRequests, { name: "drift-ended" }, { name: "drift-pending" }],
    [secrets, token("bootstrap-token-00drft"), token("bootstrap-token-01drft")],
  ];

  const root = await client.reader.get(configMaps, {
    namespace: "default",
    name: "kube-root-ca.crt",
  });
  const injected = Buffer.from(root?.data?.["ca.crt"] ?? "").toString("base64");
  const authorities = injections(injected);
  for (const [resource, name, body] of authorities)
    await client.patch(resource, { name }, { type: "merge", body }, { fieldManager: "injector" });
  const admitted = { type: "merge", body: { spec: { schedulingGates: null } } } as const;
  await client.patch(pods, own("gated"), admitted, { fieldManager: "quota" });
  // What node-lifecycle-controller writes after a minute.
  const taints = [{ key: "node.kubernetes.io/unreachable", effect: "NoSchedule" }];
  const tainted = { type: "merge", body: { spec: { taints } } } as const;
  await client.patch(nodes, { name: "drift-node" }, tainted, { fieldManager: "nodes" });
  const three = { type: "merge", body: { spec: { replicas: 3 } } } as const;
  for (const name of ["scaled-0", "scaled-1"])
    await client.patch(deployments, own(name), three, { fieldManager: "autoscaler" });
  const isFilled = ({ rules = [] }: ClusterRole) => rules.length === 1;
  await waitForObject(client, clusterRoles, { name: "drift-all" }, "filled in", isFilled);
  const hasSucceeded = (pod: KubeObject & { readonly status?: { readonly phase?: string } }) =>
    pod.status?.phase === "Succeeded";
  await waitForObject(client, pods, own("ended"), "ended", hasSucceeded);
  const failed = [{ type: "Failed", status: "True", reason: "Signer", message: "no" }];
  await client.patch(
    ...([signingRequests, { name: "drift-ended" }] as const),
    { type: "merge", body: { status: { conditions: failed } } },
    { fieldManager: "signer", subresource: "status" },
  );
  // The agent has seen them by then: of a pod that it has never seen nobody knows that it had ended.
  await agent.report(({ name, ready }) => name === "filled" && ready);
  // Its own controller removes the first Job.
  await waitUntilGone(client, jobs, own("ended"));
  for (const [resource, ended, other] of all) {
    if (resource !== jobs) await client.delete(resource, ended);
    const before = await client.reader.get(resource, other);
    await client.delete(resource, other);
    const isNew = ({ metadata }: KubeObject) => metadata.uid !== before?.metadata.uid;
    await waitForObject(client, resource, other, "made again", isNew);
  }
  const request = { token: "1", force: false, reset: false };
  await agent.intake.assign(await assignmentOf({ ...content, request }));
  const state = await agent.report(
    ({ name, request: answer }) => name === "filled" && answer?.token === "1",
  );

  assert.equal(state.request?.result, "InSync");
  assert.equal(state.ready, true, state.message);
  assert.deepEqual(
    state.drift?.history
      .filter(({ result }) => result !== "Foreign")
      .map(({ result, name }) => `${result} ${name}`),
    ["bootstrap-token-01drft", "drift-pending", "running", "waiting"].map(
      (name) => `Corrected ${name}`,
    ),
  );
  for (const [resource, ended] of all)
    assert.equal(await client.reader.get(resource, ended), undefined, resource.kind);
  for (const name of ["scaled-0", "scaled-1"])
    assert.equal((await client.reader.get(deployments, own(name)))?.spec?.replicas, 3, name);
  for (const [resource, name] of authorities)
    assert.ok(JSON.stringify(await client.reader.get(resource, { name })).includes(injected), name);
  assert.deepEqual(await releaseHistory(client, "filled"), ["1 deployed"]);
  // Its group, which nothing serves, would keep namespaces from being deleted.
  await agent.intake.withdraw({ name: "filled", uid: "uid-filled" });
  await agent.withdrawn("filled");
});
