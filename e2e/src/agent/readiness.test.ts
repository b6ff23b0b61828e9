/** How the agent tracks the readiness of releases, on a real control plane whose workloads run. */
import assert from "node:assert/strict";
import type { OwnedObject } from "@flotilla/agent/helm";
import { type Readiness, ReadinessTracker } from "@flotilla/agent/observe";
import { connectKube, type KubeRest, loadKubeconfig } from "@flotilla/shared/kube/client";
import {
  configMaps,
  deployments,
  type KubeObject,
  namespaces,
  type Resource,
} from "@flotilla/shared/kube/objects";
import { silentLog } from "@flotilla/shared/log";
import { systemClock as clock } from "@flotilla/shared/time";
import { afterAll, test } from "vitest";
import { createChangeSignal } from "../harness/change-signal.ts";
import { leaseControlPlane } from "../harness/control-planes.ts";

const namespace = "apps";

const plane = await leaseControlPlane("cluster");
const config = await loadKubeconfig({ path: plane.kubeconfig });
const rest = connectKube(config);
const tracker = new ReadinessTracker({ rest, clock, log: silentLog() });
const as = (rest: KubeRest) => ({ subject: "the agent", rest, isPerNamespace: false });
const client = as(rest);
const ending = new AbortController();
const running = tracker.run(ending.signal);
afterAll(async () => {
  ending.abort();
  await running;
  await rest.close();
});
await rest.create(namespaces, { metadata: { name: namespace } });

const signal = createChangeSignal();
tracker.onChange(() => signal.changed());

/** Resolves with the readiness of a release once it is as desired. */
function readiness(name: string, isDesired: (readiness: Readiness) => boolean): Promise<Readiness> {
  return signal.found(() => {
    const found = tracker.readinessOf(name);
    return found !== undefined && isDesired(found) ? found : undefined;
  }, `the readiness of ${name}`);
}

function deploymentThat(name: string): KubeObject {
  const labels = { app: name };
  const object = {
    metadata: { namespace, name },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: "main", image: "example.com/main:1" }] },
      },
    },
  };
  return object;
}

test("a Deployment is missing, then in progress, then ready, and missing when it is deleted", async () => {
  const web: OwnedObject = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
  const seen: string[] = [];
  tracker.onChange((name) => {
    if (name !== "web") return;
    const [first] = tracker.readinessOf(name)?.notReady ?? [];
    seen.push(first === undefined ? "ready" : first.state);
  });

  tracker.track("web", [web], { namespace, client });
  const absent = await readiness("web", () => true);
  assert.deepEqual(absent.notReady, [
    { ...web, namespace, state: "missing", message: "does not exist" },
  ]);

  await rest.create(deployments, deploymentThat("web"));
  const up = await readiness("web", ({ ready }) => ready);
  assert.deepEqual(up.counts, { desiredReady: 1, ready: 1, notReady: 0, missing: 0, unknown: 0 });

  await rest.delete(deployments, { namespace, name: "web" });
  const gone = await readiness("web", ({ counts }) => counts.missing === 1);
  assert.equal(gone.ready, false);

  const stages = seen.filter((stage, at) => stage !== seen[at - 1]);
  assert.deepEqual(stages.slice(0, 3), ["missing", "in-progress", "ready"]);
  assert.equal(stages.at(-1), "missing");
});

test("objects of Kubernetes' own kinds become ready, also a StatefulSet after an update", async () => {
  const labels = { app: "kinds" };
  const containers = [{ name: "main", image: "example.com/main:1" }];
  const template = { metadata: { labels }, spec: { containers } };
  const selector = { matchLabels: labels };
  const job = { template: { spec: { containers, restartPolicy: "Never" } } };
  const specs: readonly (readonly [apiVersion: string, kind: string, spec: object])[] = [
    ["apps/v1", "DaemonSet", { selector, template }],
    ["apps/v1", "ReplicaSet", { replicas: 2, selector, template }],
    ["apps/v1", "StatefulSet", { replicas: 2, selector, template, serviceName: "kinds" }],
    ["v1", "ReplicationController", { selector: labels, template }],
    ["v1", "Pod", { containers }],
    ["v1", "PersistentVolumeClaim", claimSpec],
    ["v1", "Service", { type: "LoadBalancer", selector: labels, ports: [{ port: 80 }] }],
    ["batch/v1", "Job", job],
    ["batch/v1", "CronJob", { schedule: "0 0 1 1 *", jobTemplate: { spec: job } }],
    ["policy/v1", "PodDisruptionBudget", { selector, maxUnavailable: 1 }],
    [
      "autoscaling/v2",
      "HorizontalPodAutoscaler",
      { maxReplicas: 2, scaleTargetRef: { apiVersion: "apps/v1", kind: "ReplicaSet", name: "x" } },
    ],
  ];
  const objects = specs.map(([apiVersion, kind]) => ({ apiVersion, kind, name: "kinds" }));
  tracker.track("kinds", objects, { namespace, client });
  for (const [apiVersion, kind, spec] of specs) {
    const object = { metadata: { namespace, name: "kinds" }, spec };
    await rest.create(resourceOf(apiVersion, kind), object);
  }
  await readiness("kinds", ({ ready }) => ready);

  const sets = resourceOf("apps/v1", "StatefulSet");
  const body = { spec: { template: { metadata: { annotations: { changed: "1" } } } } };
  const changed = new Set<string>();
  tracker.onChange(() => {
    for (const { kind } of tracker.readinessOf("kinds")?.notReady ?? []) changed.add(kind);
  });
  await rest.patch(sets, { namespace, name: "kinds" }, { type: "merge", body });
  await signal.found(() => (changed.has("StatefulSet") ? true : undefined), "the update");

  await readiness("kinds", ({ ready }) => ready);
});

const claimSpec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Mi" } } };

function resourceOf(apiVersion: string, kind: string): Resource<KubeObject> {
  const [group = "", version = ""] = apiVersion.includes("/")
    ? apiVersion.split("/")
    : ["", apiVersion];
  return { group, version, kind, plural: `${kind.toLowerCase()}s`, namespaced: true };
}

test("a release is ready when its last object exists, and another release is not notified", async () => {
  const objects: readonly OwnedObject[] = [
    { apiVersion: "v1", kind: "ConfigMap", name: "one" },
    { apiVersion: "v1", kind: "ConfigMap", name: "two" },
  ];
  await rest.create(configMaps, { metadata: { namespace, name: "one" } });
  tracker.track("both", objects, { namespace, client });
  tracker.track("first", objects.slice(0, 1), { namespace, client });
  await readiness("first", ({ ready }) => ready);
  assert.equal((await readiness("both", () => true)).counts.missing, 1);
  const notified: string[] = [];
  // Those of the tests before are still changed by controllers.
  tracker.onChange((name) => ["both", "first"].includes(name) && notified.push(name));

  await rest.create(configMaps, { metadata: { namespace, name: "two" } });
  await readiness("both", ({ ready }) => ready);

  assert.deepEqual(notified, ["both"]);
});

test("a kind that the agent may not list is reported with the message of the server, until it may", async (t) => {
  const user = "restricted";
  const restricted = connectKube({ ...config, impersonate: { user, groups: [] } });
  const own = new ReadinessTracker({ rest: restricted, clock, log: silentLog() });
  const stop = new AbortController();
  const runs = own.run(stop.signal);
  t.onTestFinished(async () => {
    stop.abort();
    await runs;
    await restricted.close();
  });
  const reported = new Map<boolean, PromiseWithResolvers<Readiness>>([
    [false, Promise.withResolvers()],
    [true, Promise.withResolvers()],
  ]);
  own.onChange((name) => {
    const now = own.readinessOf(name);
    if (now !== undefined) reported.get(now.ready)?.resolve(now);
  });
  await rest.create(configMaps, { metadata: { namespace, name: "seen" } });

  own.track("seen", [{ apiVersion: "v1", kind: "ConfigMap", name: "seen" }], {
    namespace,
    client: as(restricted),
  });
  const hidden = await reported.get(false)?.promise;
  assert.deepEqual(hidden?.counts, {
    desiredReady: 1,
    ready: 0,
    notReady: 0,
    missing: 0,
    unknown: 1,
  });
  assert.match(
    hidden.notReady[0]?.message ?? "",
    /^the agent may not list this kind: list configmaps on https:.*: 403 Forbidden: user "restricted" may not list configmaps of API group "" at the cluster scope/,
  );

  const role = { apiGroups: [""], resources: ["configmaps"], verbs: ["list", "watch"] };
  const api = { group: "rbac.authorization.k8s.io", version: "v1", namespaced: false };
  const clusterRole = { metadata: { name: user }, rules: [role] };
  await rest.create({ ...api, kind: "ClusterRole", plural: "clusterroles" }, clusterRole);
  const binding = {
    metadata: { name: user },
    roleRef: { apiGroup: api.group, kind: "ClusterRole", name: user },
    subjects: [{ apiGroup: api.group, kind: "User", name: user }],
  };
  await rest.create({ ...api, kind: "ClusterRoleBinding", plural: "clusterrolebindings" }, binding);
  assert.equal((await reported.get(true)?.promise)?.counts.ready, 1);
});
