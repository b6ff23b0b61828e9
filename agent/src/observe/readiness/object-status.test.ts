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

const cases: readonly Case[] = [
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
    "failed: container main is in CrashLoopBackOff",
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
  [
    "that is being created",
    "apiextensions.k8s.io/CustomResourceDefinition",
    {},
    condition("Established", "False", { reason: "Installing", message: "soon" }),
    "inProgress: is not established yet",
  ],
  [
    "that was not accepted",
    "apiextensions.k8s.io/CustomResourceDefinition",
    {},
    condition("Established", "False", { reason: "NotAccepted", message: "no" }),
    "failed: no",
  ],
  ["that is new", "policy/PodDisruptionBudget", {}, {}, current],
  [
    "that allows no disruption",
    "policy/PodDisruptionBudget",
    {},
    { observedGeneration: 2, ...condition("DisruptionAllowed", "False") },
    current,
  ],
  [
    "whose controller has not observed the latest generation",
    "policy/PodDisruptionBudget",
    {},
    { observedGeneration: 1 },
    "inProgress: its controller has not observed the latest change yet",
  ],
  [
    "that cannot scale",
    "autoscaling/HorizontalPodAutoscaler",
    {},
    condition("ScalingActive", "False"),
    current,
  ],
  ["without a schedule", "batch/CronJob", {}, {}, current],
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
    "whose controller has observed a later generation, as before a restore",
    "example.com/Thing",
    {},
    { observedGeneration: 3, ...condition("Ready", "True") },
    "inProgress: its controller has not observed the latest change yet",
  ],
  [
    "that was stalled with an earlier generation",
    "example.com/Thing",
    {},
    { observedGeneration: 1, ...condition("Stalled", "True") },
    "inProgress: its controller has not observed the latest change yet",
  ],
  [
    "that is stalled, and ready as before",
    "example.com/Thing",
    {},
    {
      observedGeneration: 2,
      conditions: [
        { type: "Ready", status: "True" },
        { type: "Stalled", status: "True", reason: "Rejected", message: "" },
      ],
    },
    "failed: Rejected",
  ],
  [
    "that is being reconciled, and ready as before",
    "example.com/Thing",
    {},
    {
      conditions: [
        { type: "Ready", status: "True" },
        { type: "Reconciling", status: "True", reason: "Progressing", message: "step 2" },
      ],
    },
    "inProgress: step 2",
  ],
  [
    "that is neither stalled nor being reconciled",
    "example.com/Thing",
    {},
    {
      conditions: [
        { type: "Stalled", status: "False" },
        { type: "Reconciling", status: "False" },
        { type: "Available", status: "False" },
      ],
    },
    current,
  ],
  [
    "with conditions of the convention",
    "/Service",
    { type: "ClusterIP" },
    condition("Stalled", "True", { message: "no address" }),
    "failed: no address",
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
    assert.ok(hasStatus("policy", "PodDisruptionBudget"));
    assert.ok(!hasStatus("", "ConfigMap"));
    assert.ok(!hasStatus("rbac.authorization.k8s.io", "Role"));
  });
});
