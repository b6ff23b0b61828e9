/**
 * The objects of a Bundle over all clusters, as a HelmOp's status lists them. Pure.
 *
 * Fleet lists each object with each cluster, up to a megabyte. Here the list is bounded in every direction, and which
 * entries it has depends on nothing but the names and the states.
 */

import {
  type BundleDeployment,
  bundleStates,
  type HelmOpStatus,
  maxCountedClusters,
  maxListed,
  maxResources,
  type ResourceCounts,
  type ResourceStateName,
  resourceStates,
} from "@flotilla/shared/api";
import type { ObjectKey } from "@flotilla/shared/kube/objects";
import { cutText } from "@flotilla/shared/text";
import { clusterKeyOf } from "../../base/index.ts";
import type { Aggregate } from "./bundle-aggregate.ts";
import type { ObjectAggregate } from "./object-aggregate.ts";
import { idOf, nameOfId, type ObjectId, objectCounts } from "./object-states.ts";
import { modifiedText, objectId } from "./object-text.ts";

type LookUp = (key: ObjectKey) => BundleDeployment | undefined;
type ListedObject = NonNullable<HelmOpStatus["resources"]>[number];

/** The limit of the JSON of the whole list. */
const listChars = 32 * 1024;
const messageChars = 256;

const stateTexts = {
  missing: "Missing",
  modified: "Modified",
  orphaned: "Orphaned",
  notReady: "NotReady",
  unknown: "Unknown",
  waitApplied: "WaitApplied",
  pending: "Pending",
  ready: "Ready",
} as const satisfies Record<ResourceStateName, string>;

/** By kind, namespace and name. If not all fit, those that are not ready somewhere have precedence. */
export function listObjects(objects: ObjectAggregate, lookUp: LookUp): readonly ListedObject[] {
  const unready = objects.unready.first(maxResources);
  const ids = [...unready, ...objects.ready.first(maxResources - unready.length)];
  const listed: (readonly [ObjectId, ListedObject])[] = [];
  let left = listChars;
  for (const id of ids) {
    const object = describe(id, objects, lookUp);
    left -= JSON.stringify(object).length + 1;
    if (left < 0) break;
    listed.push([id, object]);
  }
  return listed.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
}

/** By the key of the cluster, for those that need attention most. */
export function countByCluster(
  aggregate: Aggregate,
  lookUp: LookUp,
): Readonly<Record<ObjectKey, ResourceCounts>> {
  const counted: [ObjectKey, ResourceCounts][] = [];
  for (const state of bundleStates) {
    for (const key of aggregate.deployments.get(state)?.first(maxCountedClusters) ?? []) {
      const deployment = lookUp(key);
      const counts = deployment && objectCounts(deployment);
      if (deployment === undefined || counts === undefined) continue;
      if (counted.length >= maxCountedClusters) return Object.fromEntries(counted);
      counted.push([clusterKeyOf(deployment), counts]);
    }
  }
  return Object.fromEntries(counted);
}

function describe(id: ObjectId, objects: ObjectAggregate, lookUp: LookUp): ListedObject {
  const { apiVersion, kind, namespace, name } = nameOfId(id);
  const clusters = objects.of(id);
  const worst = resourceStates.find((state) => clusters.has(state)) ?? "ready";
  const group = apiVersion.includes("/") ? `${apiVersion.replace(/\/.*/, "")}.` : "";
  const isCut = [...clusters.values()].some((keys) => keys.size > maxListed);
  return {
    apiVersion,
    kind,
    type: `${group}${kind}`.toLowerCase(),
    id: objectId({ namespace, name }),
    ...(namespace !== "" && { namespace }),
    name,
    ...(isCut && { incompleteState: true }),
    state: stateTexts[worst],
    ...reasonOf(id, clusters.get(worst)?.first(1)[0], lookUp),
    perClusterState: Object.fromEntries(
      resourceStates.flatMap((state) => {
        const names = (clusters.get(state)?.first(maxListed) ?? []).flatMap((key) => {
          const deployment = lookUp(key);
          return deployment === undefined ? [] : [clusterKeyOf(deployment)];
        });
        return names.length === 0 ? [] : [[state, names]];
      }),
    ),
  };
}

/** The message of the first deployment in the worst state. */
function reasonOf(
  id: ObjectId,
  key: ObjectKey | undefined,
  lookUp: LookUp,
): Pick<ListedObject, "error" | "transitioning" | "message"> {
  const status = key === undefined ? undefined : lookUp(key)?.status;
  const nonReady = status?.nonReadyStatus?.find((object) => idOf(object) === id);
  if (nonReady !== undefined) {
    const { error, transitioning, message } = nonReady.summary ?? {};
    return {
      ...(error === true && { error }),
      ...(transitioning === true && { transitioning }),
      ...(message?.[0] && { message: cutText(message[0], messageChars) }),
    };
  }
  const modified = status?.modifiedStatus?.find((object) => idOf(object) === id);
  return modified === undefined
    ? {}
    : { error: true, message: cutText(modifiedText(modified), messageChars) };
}
