/** Why a workload is not ready, from its pods. Pure. */
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { type PodReason, podReason, toRuleInput } from "../rules/index.ts";
import type { Workload } from "./workload.ts";

/** The most important first. A pod that has ended was replaced, if others have a reason. */
const order: readonly PodReason["kind"][] = ["failed", "unscheduled", "unready", "ended"];

/** Set by the controllers of Deployments, and of StatefulSets and DaemonSets. */
const revisionLabels = ["pod-template-hash", "controller-revision-hash"];

export interface WorkloadReason {
  readonly message: string;
  /** Its containers cannot be started, or end again and again: waiting does not help. */
  readonly isFailed: boolean;
}

/** As "pod web-1: container app is in CrashLoopBackOff". Undefined if no pod has a reason, as while all are being started. */
export function workloadReason(
  workload: Workload,
  pods: readonly KubeObject[],
): WorkloadReason | undefined {
  const own = pods.filter((pod) => isOwnedBy(workload, pod) && !isTerminating(pod));
  const [first] = ofNewestRevision(own)
    .flatMap((pod) => {
      const reason = podReason(toRuleInput(pod));
      return reason === undefined ? [] : [{ name: pod.metadata.name, ...reason }];
    })
    // By name where they are equally important, so that the reason does not change with every read.
    .sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind) || (a.name < b.name ? -1 : 1));
  return (
    first && {
      message: `pod ${first.name}: ${first.message}`,
      isFailed: first.kind === "failed",
    }
  );
}

/** The selectors of several workloads may match the same pods, as of a Deployment and a Job of one chart. */
function isOwnedBy({ kind, name, uid }: Workload, { metadata }: KubeObject): boolean {
  const controller = metadata.ownerReferences?.find((owner) => owner.controller === true);
  return kind === "Deployment"
    ? controller?.kind === "ReplicaSet" && controller.name.startsWith(`${name}-`)
    : controller?.uid === uid && uid !== undefined;
}

function isTerminating({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** Those that a rollout replaces say nothing of those that replace them. */
function ofNewestRevision(pods: readonly KubeObject[]): readonly KubeObject[] {
  const times = pods.map(({ metadata }) => metadata.creationTimestamp ?? "");
  const newest = times.reduce((latest, time) => (time > latest ? time : latest), "");
  const revision = pods.find((pod) => (pod.metadata.creationTimestamp ?? "") === newest);
  if (revision === undefined) return [];
  return pods.filter((pod) => revisionOf(pod) === revisionOf(revision));
}

function revisionOf({ metadata }: KubeObject): string {
  return revisionLabels.map((label) => metadata.labels?.[label] ?? "").join(" ");
}
