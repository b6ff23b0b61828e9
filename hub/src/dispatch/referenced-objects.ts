/**
 * Cluster info and referenced objects of one agent: what it has, compared with the Cluster and the workspace as they are when
 * a message is made.
 */
import type { HubMessage, ObjectRef, ObservedObject } from "@flotilla/proto";
import { type BundleDeployment, type Cluster, formatObjectRef } from "@flotilla/shared/api";
import { digestClusterInfo, packClusterInfo } from "@flotilla/shared/referenced";
import { referencedObjectsOf } from "../cache/index.ts";
import type { DeploymentTrust } from "../content/index.ts";
import {
  clusterInfoOf,
  planReferencedObject,
  planReferencedObjects,
  type ReferencedPlan,
  type References,
  type WorkspaceObject,
} from "../referenced/index.ts";

export interface ReferencedObjectsDeps {
  /** What the agent has, by its Hello. */
  readonly inventory: readonly ObservedObject[];
  /** Of the cluster info that the agent has. */
  readonly clusterInfoDigest: string | undefined;
  /** All BundleDeployments of the cluster, those being deleted included. */
  readonly deployments: () => readonly BundleDeployment[];
  readonly cluster: () => Cluster | undefined;
  readonly sourceOf: (ref: ObjectRef) => WorkspaceObject;
  /** Only references of deployments that the hub has signed are obeyed. */
  readonly trust: DeploymentTrust;
}

export interface ReferencedObjects {
  /** What differs from the agent's inventory. */
  plan(): ReferencedPlan;
  /** The message about one object that is due now; `undefined` when the agent is up to date. */
  next(ref: ObjectRef): HubMessage | undefined;
  nextClusterInfo(): Promise<HubMessage | undefined>;
}

export function createReferencedObjects(deps: ReferencedObjectsDeps): ReferencedObjects {
  const { cluster, sourceOf } = deps;
  const inventory = new Map(deps.inventory.map((each) => [formatObjectRef(each), each]));
  let { clusterInfoDigest } = deps;

  return {
    plan: () => planReferencedObjects(deps.inventory, referencesOf(deps), sourceOf),
    next(ref) {
      const key = formatObjectRef(ref);
      const { kind, name } = ref;
      const source = sourceOf(ref);
      const { referenced, kept } = referencesOf(deps);
      const step = planReferencedObject(ref, {
        observed: inventory.get(key),
        isReferenced: referenced.has(key),
        isKept: kept.has(key),
        source,
      });
      switch (step.kind) {
        case "nothing":
          return undefined;
        case "withdraw":
          inventory.delete(key);
          return { kind: "referencedObjectWithdrawal", object: { kind, name } };
        case "send": {
          if (source.kind !== "present") {
            inventory.set(key, { kind, name });
            return { kind: "referencedObject", object: { kind, name } };
          }
          const { digest, bytes: content } = source.packed;
          inventory.set(key, { kind, name, digest });
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
}: Pick<ReferencedObjectsDeps, "deployments" | "trust">): References {
  const [referenced, kept] = [new Set<string>(), new Set<string>()];
  for (const deployment of deployments()) {
    const keys = referencedObjectsOf(deployment);
    if (keys.length === 0) continue;
    const into = trust.isTrusted(deployment) ? referenced : kept;
    for (const key of keys) into.add(key);
  }
  return { referenced, kept };
}
