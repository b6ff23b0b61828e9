/** Reduces a cached object to what the readiness rules read. Pure. */
import { hash } from "node:crypto";
import { dropBulk } from "@flotilla/shared/kube/cache";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import { fieldsOf } from "./rules/index.ts";

const specFields = [
  "replicas",
  "selector",
  "updateStrategy",
  "progressDeadlineSeconds",
  "type",
  "externalIPs",
  "suspend",
];
const statusFields = [
  "observedGeneration",
  "phase",
  "reason",
  "message",
  "startTime",
  "replicas",
  "updatedReplicas",
  "readyReplicas",
  "availableReplicas",
  "currentReplicas",
  "fullyLabeledReplicas",
  "currentRevision",
  "updateRevision",
  "desiredNumberScheduled",
  "currentNumberScheduled",
  "updatedNumberScheduled",
  "numberAvailable",
  "numberReady",
  "loadBalancer",
];
const containerLists = ["containerStatuses", "initContainerStatuses"];
const containerFields = ["name", "image", "ready", "started", "restartCount", "state", "lastState"];

/** An object as it is cached. */
export interface CachedObject extends KubeObject {
  /** Equal as long as only the status changes; absent for objects of nobody. */
  readonly fingerprint?: string;
}

/** Identifies what others than controllers change. */
export function fingerprintOf(object: KubeObject): string {
  const { metadata, status: _, ...fields }: KubeObject & { readonly status?: unknown } = object;
  const { uid, labels, annotations, finalizers, ownerReferences, deletionTimestamp } = metadata;
  const named = { uid, labels, annotations, finalizers, ownerReferences, deletionTimestamp };
  return hash("sha1", JSON.stringify([named, fields]), "base64");
}

/** For kinds whose objects are current as soon as they exist. */
export function onlyMetadata({ metadata }: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion, generation, deletionTimestamp } = metadata;
  return {
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
      ...(generation !== undefined && { generation }),
      ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    },
  };
}

/** For kinds whose status is decided by expressions, which may read any field, except the data of Secrets. */
export function wholeObject(
  object: KubeObject,
  { group, kind }: Pick<Resource<KubeObject>, "group" | "kind">,
): KubeObject {
  const whole = dropBulk(object);
  if (group !== "" || kind !== "Secret") return whole;
  const withoutData: KubeObject & { data?: unknown; stringData?: unknown } = { ...whole };
  delete withoutData.data;
  delete withoutData.stringData;
  return withoutData;
}

export function slimObject(object: KubeObject): KubeObject {
  const spec = fieldsOf(Reflect.get(object, "spec"));
  const status = fieldsOf(Reflect.get(object, "status"));
  // The type of any object names neither.
  const slim = {
    ...onlyMetadata(object),
    spec: pick(spec, specFields),
    status: { ...pick(status, statusFields), ...conditions(status), ...containers(status) },
  };
  return slim;
}

function conditions(status: Readonly<Record<string, unknown>>) {
  const { conditions: list } = status;
  if (!Array.isArray(list)) return {};
  return { conditions: list.map((condition) => texts(fieldsOf(condition))) };
}

/** `ignore.conditions` may name any of them. */
function texts(condition: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(
    Object.entries(condition).filter(([, value]) => typeof value === "string"),
  );
}

function containers(status: Readonly<Record<string, unknown>>) {
  const found: Record<string, unknown> = {};
  for (const name of containerLists) {
    const list = status[name];
    if (Array.isArray(list))
      found[name] = list.map((container) => pick(fieldsOf(container), containerFields));
  }
  return found;
}

function pick(fields: Readonly<Record<string, unknown>>, names: readonly string[]) {
  const picked: Record<string, unknown> = {};
  for (const name of names) if (fields[name] !== undefined) picked[name] = fields[name];
  return picked;
}
