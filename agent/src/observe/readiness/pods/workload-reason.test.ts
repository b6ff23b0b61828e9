import assert from "node:assert/strict";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import type { Workload } from "./workload.ts";
import { workloadReason } from "./workload-reason.ts";

const workload: Workload = {
  ...{ kind: "Deployment", namespace: "shop", name: "web", uid: "1" },
  ...{ selector: "app=web", message: "" },
};

interface PodSpec {
  /** The reason of its waiting container, or another state. */
  readonly is: "Ready" | "starting" | "unready" | "unscheduled" | "evicted" | "CrashLoopBackOff";
  readonly revision?: string;
  readonly second?: number;
  readonly owner?: { readonly kind: string; readonly name: string; readonly uid: string };
  readonly isTerminating?: boolean;
}

function pod(name: string, spec: PodSpec): KubeObject {
  const { is, revision = "a", second = 1, isTerminating = false } = spec;
  const owner = spec.owner ?? { kind: "ReplicaSet", name: `web-${revision}`, uid: "2" };
  return {
    metadata: {
      name,
      labels: { "pod-template-hash": revision },
      creationTimestamp: `2026-01-01T00:00:0${second}Z`,
      ownerReferences: [{ apiVersion: "apps/v1", controller: true, ...owner }],
      ...(isTerminating && { deletionTimestamp: "2026-01-01T00:00:09Z" }),
    },
    ...{ status: statusOf(is) },
  };
}

function statusOf(is: PodSpec["is"]): unknown {
  const status = is === "Ready" ? "True" : "False";
  if (is === "evicted") return { phase: "Failed", reason: "Evicted" };
  if (is === "unscheduled")
    return { conditions: [{ type: "PodScheduled", status, message: "0/1 nodes" }] };
  const state =
    is === "Ready" || is === "unready"
      ? { running: {} }
      : { waiting: { reason: is === "starting" ? "ContainerCreating" : is } };
  const containerStatuses = [{ name: "app", ready: is === "Ready", state }];
  return { phase: "Running", conditions: [{ type: "Ready", status }], containerStatuses };
}

const crash = "container app is in CrashLoopBackOff";

describe("the reason of a workload", () => {
  const cases: readonly (readonly [
    what: string,
    pods: readonly KubeObject[],
    expected: string | undefined,
  ])[] = [
    ["is none without pods", [], undefined],
    ["is none while its pods are being started", [pod("web-a-1", { is: "starting" })], undefined],
    ["is none if its pods are ready", [pod("web-a-1", { is: "Ready" })], undefined],
    [
      "is that of a pod, with its name",
      [pod("web-a-1", { is: "Ready" }), pod("web-a-2", { is: "CrashLoopBackOff" })],
      `pod web-a-2: ${crash}`,
    ],
    [
      "is that of the first pod by name",
      [pod("web-a-2", { is: "CrashLoopBackOff" }), pod("web-a-1", { is: "CrashLoopBackOff" })],
      `pod web-a-1: ${crash}`,
    ],
    [
      "is that a container fails, rather than that a pod is not scheduled",
      [pod("web-a-1", { is: "unscheduled" }), pod("web-a-2", { is: "CrashLoopBackOff" })],
      `pod web-a-2: ${crash}`,
    ],
    [
      "is that a pod is not scheduled, rather than that one is not ready",
      [pod("web-a-1", { is: "unready" }), pod("web-a-2", { is: "unscheduled" })],
      "pod web-a-2: is not scheduled: 0/1 nodes",
    ],
    [
      "is that a pod is not ready, rather than that an earlier one was evicted",
      [pod("web-a-1", { is: "evicted" }), pod("web-a-2", { is: "unready" })],
      "pod web-a-2: container app runs but is not ready",
    ],
    ["is that its pods ended", [pod("web-a-1", { is: "evicted" })], "pod web-a-1: Evicted"],
    [
      "is none while only pods that are replaced have one",
      [
        pod("web-a-1", { is: "CrashLoopBackOff" }),
        pod("web-b-1", { is: "starting", revision: "b", second: 2 }),
      ],
      undefined,
    ],
    [
      "is not that of a pod that is being deleted",
      [pod("web-a-1", { is: "CrashLoopBackOff", isTerminating: true })],
      undefined,
    ],
    [
      "is not that of pods that its selector matches, too",
      [
        pod("web-migrate", {
          is: "CrashLoopBackOff",
          owner: { kind: "Job", name: "web-migrate", uid: "3" },
        }),
        pod("other", {
          is: "CrashLoopBackOff",
          owner: { kind: "ReplicaSet", name: "other-a", uid: "4" },
        }),
      ],
      undefined,
    ],
  ];
  for (const [what, pods, expected] of cases)
    test(what, () => assert.equal(workloadReason(workload, pods)?.message, expected));

  const kinds = [
    ["CrashLoopBackOff", true],
    ["unscheduled", false],
    ["unready", false],
    ["evicted", false],
  ] as const;
  for (const [is, isFailed] of kinds)
    test(`is ${isFailed ? "a failure" : "no failure"} where its pod is ${is}`, () =>
      assert.equal(workloadReason(workload, [pod("web-a-1", { is })])?.isFailed, isFailed));

  test("is that of pods that a controller other than a Deployment's owns itself", () => {
    const owner = { kind: "StatefulSet", name: "web", uid: "1" };
    const pods = [
      pod("web-0", { is: "CrashLoopBackOff", owner: { ...owner, uid: "0" } }),
      pod("web-1", { is: "CrashLoopBackOff", owner }),
    ];

    const reason = workloadReason({ ...workload, kind: "StatefulSet" }, pods);
    assert.equal(reason?.message, `pod web-1: ${crash}`);
  });
});
