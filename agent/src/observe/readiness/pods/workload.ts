/** An object whose controller creates pods, and how to find them. Pure. */
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import { fieldsOf, listOf, textOf } from "../rules/index.ts";

export interface Workload {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string | undefined;
  /** The selector of its pods, as the API takes it. */
  readonly selector: string;
  /** What its own status says; when it changes, its pods have probably changed, too. */
  readonly message: string;
}

const workloads = new Set([
  "apps/Deployment",
  "apps/StatefulSet",
  "apps/DaemonSet",
  "apps/ReplicaSet",
  "/ReplicationController",
  "batch/Job",
]);

/** Undefined for other kinds, and for one that selects no pods. `message`: of its status. */
export function toWorkload(
  { group, kind }: Resource<KubeObject>,
  object: KubeObject,
  message: string,
): Workload | undefined {
  const { name, namespace = "", uid } = object.metadata;
  if (!workloads.has(`${group}/${kind}`)) return undefined;
  const { selector } = fieldsOf(Reflect.get(object, "spec"));
  const text = kind === "ReplicationController" ? labelsText(selector) : selectorText(selector);
  return text === "" ? undefined : { kind, namespace, name, uid, selector: text, message };
}

function selectorText(selector: unknown): string {
  const { matchLabels, matchExpressions } = fieldsOf(selector);
  const requirements = listOf(matchExpressions).map((requirement) => {
    const key = textOf(requirement, "key");
    const { values } = requirement;
    const list = Array.isArray(values) ? values.join(",") : "";
    switch (textOf(requirement, "operator")) {
      case "In":
        return `${key} in (${list})`;
      case "NotIn":
        return `${key} notin (${list})`;
      case "DoesNotExist":
        return `!${key}`;
      default:
        return key;
    }
  });
  return [labelsText(matchLabels), ...requirements].filter((part) => part !== "").join(",");
}

function labelsText(labels: unknown): string {
  return Object.entries(fieldsOf(labels))
    .map(([key, value]) => `${key}=${String(value)}`)
    .join(",");
}
