import assert from "node:assert/strict";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import { hasStatus, statusOf } from "./object-status.ts";
import { slimObject } from "./slim-object.ts";

type Fields = Readonly<Record<string, unknown>>;
/** Title, kind, spec, status, and the expected status with its message. */
type Case = readonly [string, string, Fields, Fields, string];

const current = "current: ";

function object(spec: Fields, status: Fields, metadata: Fields = {}): KubeObject {
  const parts = { metadata: { name: "it", generation: 2, ...metadata }, spec, status };
  return parts;
}

/** The status of the reduced object, as one string. */
function statusText(groupKind: string, of: KubeObject): string {
  const [group = "", kind = ""] = groupKind.split("/");
  const status = statusOf(group, kind, slimObject(of));
  return `${status.kind}: ${status.kind === "current" ? "" : status.message}`;
}

function condition(type: string, status: string, more: Fields = {}): Fields {
  return { conditions: [{ type, status, ...more }] };
}

const observed = { observedGeneration: 2 };
const three = { replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3 };
const nodes = {
  ...observed,
  desiredNumberScheduled: 2,
  currentNumberScheduled: 2,
  updatedNumberScheduled: 2,
  numberAvailable: 2,
  numberReady: 2,
};

const cases: readonly Case[] = [
  [
    "a new one",
    "apps/Deployment",
    { replicas: 3 },
    {},
    "inProgress: 0 of 3 replicas are available",
  ],
  [
    "without a count",
    "apps/Deployment",
    {},
    { ...observed, replicas: 1, updatedReplicas: 1 },
    "inProgress: 0 of 1 replica is available",
  ],
  ["that is available", "apps/Deployment", { replicas: 3 }, { ...observed, ...three }, current],
  ["with zero replicas", "apps/Deployment", { replicas: 0 }, observed, current],
  [
    "whose controller observed an earlier generation",
    "apps/Deployment",
    { replicas: 3 },
    { ...three, observedGeneration: 1 },
    "inProgress: 0 of 3 replicas are available",
  ],
  [
    "during a rollout",
    "apps/Deployment",
    { replicas: 3 },
    { ...observed, ...three, replicas: 4, updatedReplicas: 1 },
    "inProgress: 1 of 3 replicas are up to date",
  ],
  [
    "with one old pod",
    "apps/Deployment",
    { replicas: 3 },
    { ...observed, ...three, replicas: 4 },
    "inProgress: 1 old replica is being terminated",
  ],
  [
    "that exceeds its progress deadline",
    "apps/Deployment",
    { replicas: 3 },
    {
      ...observed,
      ...condition("Progressing", "False", {
        reason: "ProgressDeadlineExceeded",
        message: "too long",
      }),
    },
    "failed: too long",
  ],
  [
    "that is not available",
    "apps/Deployment",
    { replicas: 3 },
    { ...observed, ...three, ...condition("Available", "False", { message: "not yet" }) },
    "inProgress: not yet",
  ],
  ["a new one", "apps/StatefulSet", { replicas: 2 }, {}, "inProgress: 0 of 2 replicas are ready"],
  [
    "that is available",
    "apps/StatefulSet",
    { replicas: 2 },
    { ...observed, replicas: 2, readyReplicas: 2, currentRevision: "a", updateRevision: "a" },
    current,
  ],
  [
    "during a rollout",
    "apps/StatefulSet",
    { replicas: 2 },
    {
      ...observed,
      replicas: 2,
      readyReplicas: 2,
      updatedReplicas: 1,
      currentRevision: "a",
      updateRevision: "b",
    },
    "inProgress: 1 of 2 replicas are up to date",
  ],
  [
    "that is rolled out to its partition",
    "apps/StatefulSet",
    { replicas: 2, updateStrategy: { rollingUpdate: { partition: 1 } } },
    {
      ...observed,
      replicas: 2,
      readyReplicas: 2,
      updatedReplicas: 1,
      currentRevision: "a",
      updateRevision: "b",
    },
    current,
  ],
  [
    "with strategy OnDelete",
    "apps/StatefulSet",
    { updateStrategy: { type: "OnDelete" } },
    {},
    current,
  ],
  [
    "that is scaled down",
    "apps/StatefulSet",
    { replicas: 1 },
    { ...observed, replicas: 3, readyReplicas: 1 },
    "inProgress: 2 surplus replicas are being terminated",
  ],
  ["a new one", "apps/DaemonSet", {}, {}, "inProgress: its pods are not scheduled yet"],
  ["that is available", "apps/DaemonSet", {}, nodes, current],
  ["without a node", "apps/DaemonSet", {}, { ...observed, desiredNumberScheduled: 0 }, current],
  [
    "during a rollout",
    "apps/DaemonSet",
    {},
    { ...nodes, updatedNumberScheduled: 1 },
    "inProgress: 1 of 2 replicas are up to date",
  ],
  [
    "with strategy OnDelete",
    "apps/DaemonSet",
    { updateStrategy: { type: "OnDelete" } },
    { ...nodes, updatedNumberScheduled: 0 },
    current,
  ],
  ["that is available", "apps/ReplicaSet", { replicas: 3 }, { ...observed, ...three }, current],
  [
    "that cannot create pods",
    "apps/ReplicaSet",
    { replicas: 3 },
    { ...observed, ...condition("ReplicaFailure", "True", { message: "quota" }) },
    "inProgress: quota",
  ],
  [
    "that is available",
    "/ReplicationController",
    { replicas: 3 },
    { ...observed, ...three },
    current,
  ],
  ["that runs", "/Pod", {}, { phase: "Running", ...condition("Ready", "True") }, current],
  ["that has succeeded", "/Pod", {}, { phase: "Succeeded" }, current],
  ["that has failed", "/Pod", {}, { phase: "Failed", reason: "Evicted" }, "failed: Evicted"],
  [
    "that is not scheduled",
    "/Pod",
    {},
    { phase: "Pending", ...condition("PodScheduled", "False", { message: "0/1 nodes" }) },
    "inProgress: is not scheduled: 0/1 nodes",
  ],
  [
    "that crashes repeatedly",
    "/Pod",
    {},
    {
      phase: "Running",
      containerStatuses: [
        { name: "main", image: "x", state: { waiting: { reason: "CrashLoopBackOff" } } },
      ],
    },
    "failed: container main: CrashLoopBackOff",
  ],
  [
    "that starts",
    "/Pod",
    {},
    {
      phase: "Pending",
      containerStatuses: [{ name: "main", state: { waiting: { reason: "ContainerCreating" } } }],
    },
    "inProgress: its containers are not ready",
  ],
  ["that is new", "/Pod", {}, {}, "inProgress: is being started"],
  ["that is new", "batch/Job", {}, {}, "inProgress: has not been started"],
  ["that runs", "batch/Job", {}, { startTime: "2026-01-01T00:00:00Z" }, current],
  ["that is done", "batch/Job", {}, condition("Complete", "True"), current],
  ["that is suspended", "batch/Job", { suspend: true }, {}, current],
  [
    "that has failed",
    "batch/Job",
    {},
    condition("Failed", "True", { reason: "BackoffLimitExceeded" }),
    "failed: BackoffLimitExceeded",
  ],
  ["that is bound", "/PersistentVolumeClaim", {}, { phase: "Bound" }, current],
  [
    "that is pending",
    "/PersistentVolumeClaim",
    {},
    { phase: "Pending" },
    "inProgress: is not bound to a volume yet",
  ],
  [
    "that has lost its volume",
    "/PersistentVolumeClaim",
    {},
    { phase: "Lost" },
    "failed: has lost its volume",
  ],
  ["inside the cluster", "/Service", { type: "ClusterIP" }, {}, current],
  [
    "without an address",
    "/Service",
    { type: "LoadBalancer" },
    { loadBalancer: {} },
    "inProgress: has no load balancer address yet",
  ],
  [
    "with an address",
    "/Service",
    { type: "LoadBalancer" },
    { loadBalancer: { ingress: [{ ip: "1.2.3.4" }] } },
    current,
  ],
  [
    "with external IPs",
    "/Service",
    { type: "LoadBalancer", externalIPs: ["1.2.3.4"] },
    {},
    current,
  ],
  [
    "that is new",
    "apiextensions.k8s.io/CustomResourceDefinition",
    {},
    {},
    "inProgress: is not established yet",
  ],
  [
    "that is established",
    "apiextensions.k8s.io/CustomResourceDefinition",
    {},
    condition("Established", "True"),
    current,
  ],
  [
    "whose names conflict",
    "apiextensions.k8s.io/CustomResourceDefinition",
    {},
    condition("NamesAccepted", "False", { message: "taken" }),
    "failed: taken",
  ],
  ["without a status", "example.com/Thing", {}, {}, current],
  ["that is ready", "example.com/Thing", {}, condition("Ready", "True"), current],
  [
    "that is not ready",
    "example.com/Thing",
    {},
    condition("Ready", "False", { reason: "Busy" }),
    "inProgress: Busy",
  ],
  [
    "whose readiness is unknown",
    "example.com/Thing",
    {},
    condition("Ready", "Unknown"),
    "inProgress: is not ready",
  ],
  [
    "that is stalled",
    "example.com/Thing",
    {},
    condition("Stalled", "True", { message: "no" }),
    "failed: no",
  ],
  [
    "that is being reconciled",
    "example.com/Thing",
    {},
    condition("Reconciling", "True"),
    "inProgress: is being reconciled",
  ],
  [
    "whose controller has not observed the latest generation",
    "example.com/Thing",
    {},
    { observedGeneration: 1, ...condition("Ready", "True") },
    "inProgress: its controller has not observed the latest change yet",
  ],
  [
    "with invalid conditions",
    "example.com/Thing",
    {},
    { conditions: ["Ready", null, {}] },
    current,
  ],
  ["that has no status of its own", "/ConfigMap", {}, condition("Ready", "False"), current],
];

describe("the status of an object:", () => {
  for (const [what, kind, spec, status, expected] of cases) {
    test(`a ${kind} ${what}`, () => assert.equal(statusText(kind, object(spec, status)), expected));
  }

  test("an object that is being deleted is terminating", () => {
    const deleting = object({}, {}, { deletionTimestamp: "2026-01-01T00:00:00Z" });

    for (const kind of ["/ConfigMap", "/Pod", "example.com/Thing"])
      assert.equal(statusText(kind, deleting), "terminating: is being deleted");
  });

  test("only some built-in kinds have a status", () => {
    assert.ok(hasStatus("apps", "Deployment"));
    assert.ok(hasStatus("example.com", "Thing"));
    assert.ok(!hasStatus("", "ConfigMap"));
    assert.ok(!hasStatus("rbac.authorization.k8s.io", "Role"));
  });
});
