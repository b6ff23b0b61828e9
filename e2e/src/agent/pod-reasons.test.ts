/**
 * Why a release is not ready, as users of the hub read it: the real scheduler's sentence, what a kubelet says of containers, and
 * conditions of custom resources. No kubelet runs here: the tests write its statuses to pods that no scheduler places.
 */
import assert from "node:assert/strict";
import { ReadinessTracker } from "@flotilla/agent/observe";
import type { HelmOp } from "@flotilla/shared/api";
import { connectKube, loadKubeconfig } from "@flotilla/shared/kube/client";
import { deployments, type KubeObject, type Resource } from "@flotilla/shared/kube/objects";
import { silentLog } from "@flotilla/shared/log";
import { systemClock as clock } from "@flotilla/shared/time";
import { test } from "vitest";
import { createChangeSignal } from "../harness/change-signal.ts";
import { chartArchive } from "../harness/chart-archive.ts";
import { startFleetForFile } from "../harness/file-fixtures.ts";
import { definitionText } from "../harness/object-text.ts";
import { clusterRoleBindings, clusterRoles } from "../harness/rbac.ts";
import { releaseHistory } from "../harness/releases.ts";
import { messageOf, waitForObject } from "../harness/wait.ts";

const { fleet, charts, cluster } = await startFleetForFile({ clusters: [{}] });
const { workspace } = fleet;
const { client } = cluster;

const pods: Resource<KubeObject> = {
  ...{ group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true },
};
const widgets: Resource<KubeObject> = {
  ...{ group: "example.com", version: "v1", kind: "Widget", plural: "widgets", namespaced: true },
};

charts.publish(
  await chartArchive({
    name: "workload",
    version: "1.0.0",
    templates: {
      "deployment.yaml": `apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ .Release.Name }}}
spec:
  selector: {matchLabels: {app: {{ .Release.Name }}}}
  template:
    metadata: {labels: {app: {{ .Release.Name }}}}
    spec:
      {{- toYaml .Values.pod | nindent 6 }}
      containers: [{name: main, image: "registry.example.com/main:9"}]
`,
    },
  }),
  await chartArchive({
    name: "widget",
    version: "1.0.0",
    crds: {
      "widgets.yaml": definitionText({ group: "example.com", kind: "Widget", hasStatus: true }),
    },
    templates: {
      "widget.yaml":
        "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: {{ .Release.Name }}}\n",
    },
  }),
);

async function createHelmOp(name: string, chart: string, pod?: unknown): Promise<HelmOp> {
  const helm = { repo: charts.url, chart, version: "1.0.0" };
  return await workspace.createHelmOp(name, {
    helm: { ...helm, ...(pod !== undefined && { values: { pod } }) },
  });
}

/** The only pod of a release of the chart `workload`, once it exists. */
async function podOf(name: string): Promise<string> {
  await waitForObject(client, deployments, { namespace: name, name }, "with a pod", (found) => {
    const { status } = found as { readonly status?: { readonly replicas?: number } };
    return status?.replicas === 1;
  });
  const [pod] = await client.reader.list(pods, { namespace: name });
  return pod?.metadata.name ?? "";
}

async function setStatus(
  resource: Resource<KubeObject>,
  ref: { readonly namespace: string; readonly name: string },
  status: unknown,
): Promise<void> {
  await client.patch(resource, ref, { type: "merge", body: { status } }, { subresource: "status" });
}

/** The message of a release on its BundleDeployment. */
async function deploymentMessage(name: string): Promise<string> {
  const deployment = await workspace.bundleDeployment(cluster.name, name);
  return deployment === undefined ? "" : messageOf(deployment, "Ready");
}

test("a pod that no node fits is reported with the scheduler's sentence", async () => {
  await createHelmOp("nowhere", "workload", { nodeSelector: { no: "node" } });
  const pod = await podOf("nowhere");

  const { status } = await workspace.waitForMessage("nowhere", /nodes are available/);

  // How many nodes there are by now, and which of them have taints, depends on the cluster.
  const reason = new RegExp(
    `0 of 1 replica is available: pod ${pod}: is not scheduled: 0/\\d nodes are available: 1 node\\(s\\) didn't match Pod's node affinity/selector`,
  );
  assert.match(await deploymentMessage("nowhere"), reason);
  assert.match(messageOf({ metadata: {}, status }, "Ready"), reason);
});

test("what a kubelet says of a container is reported as it changes, and nothing once it is ready", async () => {
  await createHelmOp("crashing", "workload", { schedulerName: "nobody" });
  const pod = await podOf("crashing");
  const container = { name: "main", image: "registry.example.com/main:9", imageID: "" };
  const setContainer = (state: unknown, more: object = {}) =>
    setStatus(
      pods,
      { namespace: "crashing", name: pod },
      {
        phase: "Pending",
        containerStatuses: [{ ...container, ready: false, restartCount: 0, state, ...more }],
      },
    );

  const pull = 'failed to resolve reference "registry.example.com/main:9": not found';
  await setContainer({ waiting: { reason: "ErrImagePull", message: pull } });
  await workspace.waitForMessage("crashing", /cannot pull image/);
  const image = `0 of 1 replica is available: pod ${pod}: container main cannot pull image "registry.example.com/main:9": ${pull}`;
  const message = await deploymentMessage("crashing");
  assert.ok(message.includes(image), message);

  const waiting = { reason: "CrashLoopBackOff", message: "back-off 10s restarting" };
  const terminated = { exitCode: 137, reason: "OOMKilled" };
  await setContainer({ waiting }, { restartCount: 3, lastState: { terminated } });
  await workspace.waitForMessage(
    "crashing",
    /pod \S+: container main is in CrashLoopBackOff: exit code 137 \(OOMKilled\), 3 restarts/,
  );

  await setStatus(
    pods,
    { namespace: "crashing", name: pod },
    {
      phase: "Running",
      conditions: [{ type: "Ready", status: "True" }],
      containerStatuses: [
        { ...container, ready: true, restartCount: 4, state: { running: {} }, lastState: {} },
      ],
    },
  );
  await workspace.waitUntilReady("crashing", "1.0.0", 1);
});

test("a custom resource is judged by its conditions, unless they are ignored, which does not run Helm", async () => {
  await createHelmOp("custom", "widget");
  // Without a status it is ready, as in Flux and Helm.
  await workspace.waitUntilReady("custom", "1.0.0", 1);
  const ref = { namespace: "custom", name: "custom" };
  const ready = (status: string, message: string) => ({ type: "Ready", status, message });

  await setStatus(widgets, ref, { conditions: [ready("False", "waits for a gear")] });
  await workspace.waitForMessage("custom", /waits for a gear/);
  await setStatus(widgets, ref, {
    conditions: [
      ready("False", "waits for a gear"),
      { type: "Stalled", status: "True", reason: "NoGear", message: "there is no gear" },
    ],
  });
  await workspace.waitForMessage("custom", /there is no gear/);
  await setStatus(widgets, ref, {
    observedGeneration: 0,
    conditions: [ready("True", "")],
  });
  await workspace.waitForMessage("custom", /has not observed the latest change/);
  await setStatus(widgets, ref, {
    observedGeneration: 1,
    conditions: [ready("False", "is idle"), { type: "Reconciling", status: "False" }],
  });
  await workspace.waitForMessage("custom", /is idle/);

  const helmOp = await workspace.patchHelmOp("custom", {
    ignore: { conditions: [{ type: "Ready", status: "False", message: "is idle" }] },
  });
  await workspace.waitForHelmOp(
    "custom",
    "ready",
    ({ status }) =>
      status?.observedGeneration === helmOp.metadata.generation &&
      status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ===
        true,
  );
  assert.ok(
    !/ignore/.test(messageOf((await workspace.helmOp("custom")) ?? { metadata: {} }, "Accepted")),
  );
  assert.deepEqual(await releaseHistory(client, "custom"), ["1 deployed"]);

  // Another message is not ignored.
  await setStatus(widgets, ref, {
    observedGeneration: 1,
    conditions: [ready("False", "is broken")],
  });
  await workspace.waitForMessage("custom", /is broken/);
});

test("an account that may not list pods gets that remark beside what the workload says", async (t) => {
  const user = "without-pods";
  await client.create(clusterRoles, {
    metadata: { name: user },
    rules: [{ apiGroups: ["apps"], resources: ["deployments"], verbs: ["get", "list", "watch"] }],
  });
  const subject = {
    apiGroup: "rbac.authorization.k8s.io",
    kind: "User",
    namespace: "",
    name: user,
  };
  await client.create(clusterRoleBindings, {
    metadata: { name: user },
    roleRef: { apiGroup: subject.apiGroup, kind: "ClusterRole", name: user },
    subjects: [subject],
  });
  const config = await loadKubeconfig({ path: cluster.plane.kubeconfig });
  const rest = connectKube({ ...config, impersonate: { user, groups: [] } });
  const tracker = new ReadinessTracker({ rest, clock, log: silentLog() });
  const stop = new AbortController();
  const running = tracker.run(stop.signal);
  t.onTestFinished(async () => {
    stop.abort();
    await running;
    await rest.close();
  });
  const signal = createChangeSignal();
  tracker.onChange(() => signal.changed());

  const web = { apiVersion: "apps/v1", kind: "Deployment", name: "nowhere" };
  tracker.track("web", [web], {
    namespace: "nowhere",
    client: { subject: "the account", rest, isPerNamespace: true },
  });

  const message = await signal.found(() => {
    const [first] = tracker.readinessOf("web")?.notReady ?? [];
    return first?.message.includes("may not") === true ? first.message : undefined;
  }, "the readiness");
  assert.equal(message, "0 of 1 replica is available: the account may not list its pods");
});
