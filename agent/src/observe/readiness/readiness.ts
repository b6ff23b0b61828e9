/** The readiness of a release, from the observations of its objects. Pure. */
import type { ResourceCounts, ResourceState, UnreadyResource } from "@flotilla/proto";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import type { OwnedObject } from "../../helm/index.ts";
import type { HealthChecks } from "./health-checks.ts";
import { type IgnoredConditions, statusIgnoring } from "./ignored-conditions.ts";
import { hasStatus } from "./object-status.ts";
import { toWorkload, type Workload, type WorkloadReason } from "./pods/index.ts";
import { hasEnded } from "./rules/index.ts";

export interface Readiness {
  readonly ready: boolean;
  /** The first Job that has not ended; one that runs is ready. */
  readonly runningJob?: string;
  /** The first few that are not, in a stable order. */
  readonly notReady: readonly UnreadyResource[];
  /** The first of all objects, in an order that does not depend on their states: those that can be unready come first. */
  readonly resources: readonly ResourceState[];
  /** There are more than the lists contain. */
  readonly incomplete: boolean;
  readonly counts: ResourceCounts;
}

/** The observation of one object of a release. */
export type Observation =
  /** It cannot be read. */
  | { readonly kind: "unknown"; readonly owned: OwnedObject; readonly why: string }
  | {
      readonly kind: "known";
      readonly owned: OwnedObject;
      readonly resource: Resource<KubeObject>;
      /** Undefined: it does not exist. */
      readonly object: KubeObject | undefined;
      /** It is not missing if it does not exist. */
      readonly isRemoved: boolean;
    };

/** The objects that are not ready of which a state names the reason. */
export const maxUnready = 10;
/** The resources in a state; the hub may store fewer. */
export const maxListed = 64;

export interface ReadinessOptions {
  /** The namespace of the release, for objects that name none. */
  readonly namespace: string;
  /** They take precedence over the rules for the kinds. */
  readonly checks: HealthChecks;
  readonly ignoredConditions: IgnoredConditions;
  /** Why a workload is not ready, by its pods; called with those that are listed. */
  readonly reasonOf: (workload: Workload) => WorkloadReason | undefined;
}

export function toReadiness(objects: readonly Observation[], options: ReadinessOptions): Readiness {
  const counts = { desiredReady: objects.length, ready: 0, notReady: 0, missing: 0, unknown: 0 };
  const notReady: Unready[] = [];
  const [runningJob] = objects.flatMap((each) => (isRunningJob(each) ? [each.owned.name] : []));
  const resources: ResourceState[] = [];
  for (const observed of objects) {
    const resource = toUnreadyResource(observed, options);
    counts[countOf(resource.state)] += 1;
    if (resource.state !== "ready") notReady.push({ resource, observed });
    const { message: _, ...withoutMessage } = resource;
    resources.push(withoutMessage);
  }
  return {
    ready: notReady.length === 0,
    ...(runningJob !== undefined && { runningJob }),
    notReady: notReady
      .sort((a, b) => byName(a.resource, b.resource))
      .slice(0, maxUnready)
      .map((unready) => withReason(unready, options)),
    resources: resources.sort(byImportance).slice(0, maxListed),
    incomplete: notReady.length > maxUnready || resources.length > maxListed,
    counts,
  };
}

interface Unready {
  readonly resource: UnreadyResource;
  readonly observed: Observation;
}

function withReason(
  { resource, observed }: Unready,
  { reasonOf }: ReadinessOptions,
): UnreadyResource {
  const { state, message } = resource;
  if (observed.kind === "unknown" || observed.object === undefined || state === "terminating")
    return resource;
  const workload = toWorkload(observed.resource, observed.object, message);
  const reason = workload === undefined ? undefined : reasonOf(workload);
  if (reason === undefined) return resource;
  return {
    ...resource,
    // Its controller goes on waiting for pods that end again and again.
    ...(reason.isFailed && state === "in-progress" && { state: "failed" }),
    message: `${withoutPeriod(message)}: ${reason.message}`,
  };
}

/** Kubernetes ends some of its sentences with one. */
function withoutPeriod(text: string): string {
  return text.replace(/\.$/, "");
}

function isRunningJob(observed: Observation): boolean {
  if (observed.kind === "unknown" || observed.object === undefined) return false;
  const { group, kind } = observed.resource;
  return group === "batch" && kind === "Job" && !hasEnded(observed.object);
}

function toUnreadyResource(
  observed: Observation,
  { namespace, checks, ignoredConditions }: Omit<ReadinessOptions, "reasonOf">,
): UnreadyResource {
  const { isDeletedWhenEnded: _ended, expiresAt: _expires, ...owned } = observed.owned;
  const placed = { ...owned, namespace: owned.namespace ?? namespace };
  if (observed.kind === "unknown") return { ...placed, state: "unknown", message: observed.why };
  const { namespace: _, ...clusterWide } = placed;
  const reference = observed.resource.namespaced ? placed : clusterWide;
  if (observed.object === undefined)
    return observed.isRemoved
      ? { ...reference, state: "ready", message: "" }
      : { ...reference, state: "missing", message: "does not exist" };
  const { resource, object } = observed;
  const status =
    checks.statusOf(resource, object) ?? statusIgnoring(ignoredConditions, resource, object);
  switch (status.kind) {
    case "current":
      return { ...reference, state: "ready", message: "" };
    case "inProgress":
      return { ...reference, state: "in-progress", message: status.message };
    case "failed":
    case "terminating":
      return { ...reference, state: status.kind, message: status.message };
  }
}

function countOf(state: ResourceState["state"]): Exclude<keyof ResourceCounts, "desiredReady"> {
  return state === "ready" || state === "missing" || state === "unknown" ? state : "notReady";
}

function byImportance(a: ResourceState, b: ResourceState): number {
  return Number(canBeUnready(b)) - Number(canBeUnready(a)) || byName(a, b);
}

function canBeUnready({ apiVersion, kind }: ResourceState): boolean {
  return hasStatus(apiVersion.includes("/") ? apiVersion.replace(/\/.*/, "") : "", kind);
}

function byName(a: ResourceState, b: ResourceState): number {
  const [left, right] = [a, b].map(
    ({ apiVersion, kind, namespace, name }) => `${kind} ${namespace ?? ""} ${name} ${apiVersion}`,
  );
  return (left ?? "") < (right ?? "") ? -1 : 1;
}
