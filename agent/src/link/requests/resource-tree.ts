/**
 * The objects of a release as they are in the cluster, its hooks and tests, and below them what its workloads have created:
 * ReplicaSets, Pods, and Jobs of CronJobs. Read as the account of the deployment; what it may not read says so.
 */
import { KubeStatusError } from "@flotilla/shared/kube/client";
import {
  type KubeObject,
  type ObjectRef,
  type Resource,
  refOf,
} from "@flotilla/shared/kube/objects";
import type { ReadRecords } from "../../helm/index.ts";
import { toWorkload } from "../../observe/index.ts";
import { hooksOfRelease, type ReleaseHook } from "./hooks-of-release.ts";
import {
  type FindResource,
  type FoundRelease,
  findNewest,
  mayRead,
  noRecord,
  type RequestedRelease,
  readableObjects,
  type StoredDeps,
} from "./requested-release.ts";

/** An object of the tree. */
export interface TreeNode {
  readonly resource: Resource<KubeObject> | undefined;
  readonly apiVersion: string;
  readonly kind: string;
  readonly ref: ObjectRef;
  /** As it is; a text: why it could not be read; undefined: it is missing. */
  readonly object: KubeObject | string | undefined;
  /** It is one, or was created by one. */
  readonly hook?: ReleaseHook;
}

export interface TreeDeps extends StoredDeps {
  readonly records: Pick<ReadRecords, "stored" | "manifest">;
  readonly findResource: FindResource;
}

const child = (group: string, kind: string, plural: string): Resource<KubeObject> => ({
  group,
  version: "v1",
  kind,
  plural,
  namespaced: true,
});
const pods = child("", "Pod", "pods");
const replicaSets = child("apps", "ReplicaSet", "replicasets");
const jobs = child("batch", "Job", "jobs");

/** The limit of one workload. */
const maxChildren = 100;

/** Parents come before what they have created. Throws REQUEST_FAILED if there is no release. */
export async function* resourceTree(
  deps: TreeDeps,
  release: RequestedRelease,
  signal: AbortSignal,
): AsyncIterable<TreeNode> {
  const stored = await findNewest(deps, release, signal);
  const hooks = await hooksOfRelease(deps, release, stored);
  if (stored === undefined && hooks.length === 0) throw noRecord(deps, release);
  const from = { isAsRead: stored?.isAsRead === true };
  for (const hook of hooks)
    for await (const node of withChildren(deps, release, hook, from, signal))
      yield { ...node, hook };
  const objects =
    stored === undefined
      ? []
      : readableObjects(stored, await deps.records.manifest(stored.release, "objects"));
  for (const owned of objects) yield* withChildren(deps, release, owned, from, signal);
}

async function* withChildren(
  { findResource }: TreeDeps,
  release: RequestedRelease,
  { apiVersion, kind, namespace = release.namespace, name }: Pick<ReleaseHook, NamedFields>,
  from: Pick<FoundRelease, "isAsRead">,
  signal: AbortSignal,
): AsyncIterable<TreeNode> {
  const resource = await findResource(apiVersion, kind, signal);
  if (typeof resource === "string")
    return yield { resource: undefined, apiVersion, kind, ref: { name }, object: resource };
  if (!mayRead(from, resource)) return;
  const ref = resource.namespaced ? { namespace, name } : { name };
  const object = await readable(release.rest.get(resource, ref, { signal }));
  yield { resource, apiVersion, kind, ref, object };
  if (typeof object === "object") yield* childrenOf(release, resource, object, signal);
}

type NamedFields = "apiVersion" | "kind" | "namespace" | "name";

async function* childrenOf(
  release: RequestedRelease,
  resource: Resource<KubeObject>,
  object: KubeObject,
  signal: AbortSignal,
): AsyncIterable<TreeNode> {
  const { namespace = "", uid } = object.metadata;
  for (const kind of createdKinds(resource)) {
    const selector = toWorkload(resource, object, "")?.selector;
    if (selector === undefined && kind !== jobs) continue;
    const page = await readable(
      release.rest.list(kind, {
        namespace,
        limit: maxChildren,
        signal,
        ...(selector !== undefined && { labelSelector: selector }),
      }),
    );
    const apiVersion = kind.group === "" ? kind.version : `${kind.group}/${kind.version}`;
    if (typeof page === "string") {
      const ref = { namespace, name: "*" };
      yield { resource: kind, apiVersion, kind: kind.kind, ref, object: page };
      continue;
    }
    for (const created of page.items.filter((each) => isOwnedBy(uid, each) && isInUse(each))) {
      const ref = refOf(`${namespace}/${created.metadata.name}`);
      yield { resource: kind, apiVersion, kind: kind.kind, ref, object: created };
      yield* childrenOf(release, kind, created, signal);
    }
  }
}

/** What the controller of a kind creates. */
function createdKinds({ group, kind }: Resource<KubeObject>): readonly Resource<KubeObject>[] {
  switch (`${group}/${kind}`) {
    case "apps/Deployment":
      return [replicaSets];
    case "batch/CronJob":
      return [jobs];
    case "apps/ReplicaSet":
    case "apps/StatefulSet":
    case "apps/DaemonSet":
    case "batch/Job":
    case "/ReplicationController":
      return [pods];
    default:
      return [];
  }
}

function isOwnedBy(uid: string | undefined, { metadata }: KubeObject): boolean {
  return metadata.ownerReferences?.some((owner) => owner.uid === uid) === true;
}

/** A Deployment keeps the ReplicaSets of earlier revisions, without pods. */
function isInUse(object: KubeObject): boolean {
  const spec: unknown = Reflect.get(object, "spec");
  return !(typeof spec === "object" && spec !== null && Reflect.get(spec, "replicas") === 0);
}

/** The message of the API server where it rejects the read. */
async function readable<T>(read: Promise<T>): Promise<T | string> {
  try {
    return await read;
  } catch (thrown) {
    if (thrown instanceof KubeStatusError) return thrown.serverMessage;
    throw thrown;
  }
}
