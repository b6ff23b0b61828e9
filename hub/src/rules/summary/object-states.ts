/** How each object of a BundleDeployment is, from what its agent reported and what is desired. Pure. */
import type { BundleDeployment, ResourceCounts, ResourceStateName } from "@flotilla/shared/api";
import { stateOf } from "./deployment-state.ts";

/** An object as releases name it, whatever the cluster. */
export interface ObjectName {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** Names are sorted by kind, namespace and name: no part of one holds a line break. */
export type ObjectId = string;

type NamedObject = { readonly [K in keyof ObjectName]?: string | undefined };

export function idOf({
  apiVersion = "",
  kind = "",
  namespace = "",
  name = "",
}: NamedObject): ObjectId {
  return `${kind}\n${namespace}\n${name}\n${apiVersion}`;
}

export function nameOfId(id: ObjectId): ObjectName {
  const [kind = "", namespace = "", name = "", apiVersion = ""] = id.split("\n");
  return { apiVersion, kind, namespace, name };
}

/** The states of the objects that the status lists; there may be more. */
export function objectStates(
  deployment: BundleDeployment,
): ReadonlyMap<ObjectId, ResourceStateName> {
  const { resources, nonReadyStatus, modifiedStatus } = deployment.status ?? {};
  const ready = isWaiting(deployment) ? "waitApplied" : "ready";
  const states = new Map<ObjectId, ResourceStateName>();
  for (const object of resources ?? []) states.set(idOf(object), stateName(object.state, ready));
  for (const object of nonReadyStatus ?? [])
    states.set(idOf(object), stateName(object.summary?.state ?? "not ready", ready));
  for (const object of modifiedStatus ?? [])
    states.set(
      idOf(object),
      object.missing === true ? "missing" : object.delete === true ? "orphaned" : "modified",
    );
  return states;
}

/** Objects of an older content that are ready wait for the desired one. */
export function objectCounts(deployment: BundleDeployment): ResourceCounts | undefined {
  const counts = deployment.status?.resourceCounts;
  return counts !== undefined && isWaiting(deployment)
    ? { ...counts, ready: 0, waitApplied: counts.waitApplied + counts.ready }
    : counts;
}

function isWaiting(deployment: BundleDeployment): boolean {
  const state = stateOf(deployment);
  return state === "WaitApplied" || state === "ErrApplied";
}

function stateName(state: string | undefined, ready: "ready" | "waitApplied"): ResourceStateName {
  switch (state) {
    case undefined:
    case "ready":
      return ready;
    case "missing":
    case "unknown":
      return state;
    default:
      return "notReady";
  }
}
