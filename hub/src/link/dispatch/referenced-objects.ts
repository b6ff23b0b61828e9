/**
 * Cluster info and referenced objects of one agent: what it has, compared with the Cluster and the workspace as they are when
 * a message is made.
 */
import type { HubMessage, ObjectRef, ObservedObject } from "@flotilla/proto";
import { type BundleDeployment, type Cluster, formatObjectRef } from "@flotilla/shared/api";
import {
  addUsed,
  digestClusterInfo,
  packClusterInfo,
  type UsedKeys,
} from "@flotilla/shared/referenced";
import { usedObjectsOf } from "../../base/index.ts";
import {
  clusterInfoOf,
  type DeploymentTrust,
  planReferencedObject,
  planReferencedObjects,
  type ReferencedPlan,
  type ReferencedSource,
  type References,
  type WorkspaceObject,
} from "../../rules/index.ts";

export interface ReferencedObjectSyncDeps {
  /** What the agent has, by its Hello. */
  readonly stored: readonly ObservedObject[];
  /** The digest of the cluster info that the agent has. */
  readonly clusterInfoDigest: string | undefined;
  /** All BundleDeployments of the cluster, those being deleted included. */
  readonly deployments: () => readonly BundleDeployment[];
  readonly cluster: () => Cluster | undefined;
  readonly sourceOf: (ref: ObjectRef) => WorkspaceObject;
  /** Only references of deployments that the hub has signed are obeyed. */
  readonly trust: DeploymentTrust;
}

export interface ReferencedObjectSync {
  /** What differs from what the agent has stored. */
  plan(): ReferencedPlan;
  /** The message about one object that is due now; `undefined` when the agent is up to date. */
  next(ref: ObjectRef): Promise<HubMessage | undefined>;
  nextClusterInfo(): Promise<HubMessage | undefined>;
}

export function createReferencedObjectSync(deps: ReferencedObjectSyncDeps): ReferencedObjectSync {
  const { cluster, sourceOf } = deps;
  const stored = new Map(deps.stored.map((each) => [formatObjectRef(each), each]));
  let { clusterInfoDigest } = deps;

  return {
    plan: () =>
      planReferencedObjects(deps.stored, referencesOf(deps), (ref, used) =>
        seenBy(sourceOf(ref), used),
      ),
    async next(ref) {
      const key = formatObjectRef(ref);
      const { kind, name } = ref;
      const source = sourceOf(ref);
      const { referenced, kept } = referencesOf(deps);
      const used = referenced.get(key);
      const step = planReferencedObject(ref, {
        observed: stored.get(key),
        used,
        isKept: kept.has(key),
        source: (keys) => seenBy(source, keys),
      });
      switch (step.kind) {
        case "nothing":
          return undefined;
        case "withdraw":
          stored.delete(key);
          return { kind: "referencedObjectWithdrawal", object: { kind, name } };
        case "send": {
          if (source.kind !== "present" || used === undefined) {
            stored.set(key, { kind, name });
            return { kind: "referencedObject", object: { kind, name } };
          }
          const { digest, bytes: content } = await source.sent.pack(used);
          stored.set(key, { kind, name, digest });
          return { kind: "referencedObject", object: { kind, name, packed: { digest, content } } };
        }
      }
    },
    async nextClusterInfo() {
      const current = cluster();
      if (current === undefined) return undefined;
      const info = clusterInfoOf(current);
      // Compared before it is compressed: when thousands of agents reconnect, compression would cost more than all the rest.
      if (digestClusterInfo(info) === clusterInfoDigest) return undefined;
      const { digest, bytes: content } = await packClusterInfo(info);
      clusterInfoDigest = digest;
      return { kind: "clusterInfo", digest, content };
    },
  };
}

function referencesOf({
  deployments,
  trust,
}: Pick<ReferencedObjectSyncDeps, "deployments" | "trust">): References {
  const used: (readonly [ref: string, used: UsedKeys])[] = [];
  const kept = new Set<string>();
  for (const deployment of deployments()) {
    const objects = usedObjectsOf(deployment);
    if (objects.size === 0) continue;
    if (trust.isTrusted(deployment)) used.push(...objects);
    else for (const ref of objects.keys()) kept.add(ref);
  }
  return { referenced: addUsed(used), kept };
}

function seenBy(source: WorkspaceObject, used: UsedKeys): ReferencedSource {
  return source.kind === "present" ? { kind: "present", digest: source.sent.digest(used) } : source;
}
