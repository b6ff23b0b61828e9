/**
 * The lists of installed objects in the status of a BundleDeployment. Pure. There is one for each HelmOp and cluster,
 * so its lists are limited by their size in etcd, not only by their length.
 */

import type { DeploymentState, ResourceState, UnreadyResource } from "@flotilla/proto";
import { type BundleDeploymentStatus, maxListed } from "@flotilla/shared/api";
import { cutText } from "@flotilla/shared/text";
import { idOf } from "../../rules/index.ts";

/** Characters of JSON: a deployment of a usual chart stays under 4 KiB with everything that etcd stores for it. */
const resourcesChars = 450;
const nonReadyChars = 1_600;
const modifiedChars = 800;

/** The longest message of one object; the agent's log and the cluster itself have the whole one. */
const messageChars = 256;

export type DeployedObjects = Pick<
  BundleDeploymentStatus,
  "nonReadyStatus" | "modifiedStatus" | "resources" | "incompleteState" | "resourceCounts"
>;

/** An empty list is omitted. */
export function deployedObjects(state: DeploymentState): DeployedObjects {
  const isMissing = ({ state }: ResourceState) => state === "missing";
  const desired = {
    nonReadyStatus: state.notReady.filter((resource) => !isMissing(resource)).map(nonReady),
    modifiedStatus: [...state.notReady.filter(isMissing).map(missing), ...modified(state)],
    resources: state.resources.map(listed),
  };
  const kept = {
    nonReadyStatus: thatFit(desired.nonReadyStatus, nonReadyChars).slice(0, maxListed),
    modifiedStatus: thatFit(desired.modifiedStatus, modifiedChars).slice(0, maxListed),
    resources: thatFit(desired.resources, resourcesChars),
  };
  const isCut =
    state.incomplete ||
    (state.drift?.count ?? 0) > (state.drift?.objects ?? []).length ||
    kept.nonReadyStatus.length < desired.nonReadyStatus.length ||
    kept.modifiedStatus.length < desired.modifiedStatus.length ||
    kept.resources.length < desired.resources.length;
  return {
    ...(kept.nonReadyStatus.length > 0 && { nonReadyStatus: kept.nonReadyStatus }),
    ...(kept.modifiedStatus.length > 0 && { modifiedStatus: kept.modifiedStatus }),
    ...(kept.resources.length > 0 && { resources: kept.resources }),
    ...(isCut && { incompleteState: true }),
    resourceCounts: { ...counts(state), waitApplied: 0, orphaned: 0 },
  };
}

/** The status without the lists of objects. */
export function withoutObjects({
  nonReadyStatus: _nonReady,
  modifiedStatus: _modified,
  resources: _resources,
  incompleteState: _incomplete,
  resourceCounts: _counts,
  ...others
}: BundleDeploymentStatus): BundleDeploymentStatus {
  return others;
}

function nonReady({ message, ...resource }: UnreadyResource) {
  const { state } = resource;
  return {
    ...named(resource),
    summary: {
      state,
      ...(state === "failed" && { error: true }),
      ...((state === "in-progress" || state === "terminating") && { transitioning: true }),
      message: [cutText(message, messageChars)],
    },
  };
}

/** Those that are missing are listed already, unless they were found to be missing since. */
function modified({ drift, notReady }: DeploymentState) {
  const listed = new Set(notReady.filter(({ state }) => state === "missing").map(idOf));
  return (drift?.objects ?? [])
    .filter((object) => !(object.missing && listed.has(idOf(object))))
    .map(({ missing, fields, patch, manager, time, ...object }) => ({
      ...named(object),
      ...(missing && { missing }),
      ...(patch !== "" && { patch }),
      ...(fields.length > 0 && { fields }),
      ...(manager !== undefined && { manager }),
      ...(time !== undefined && { time }),
    }));
}

/** An object with drift counts as modified, in place of ready. */
function counts({ counts, drift }: DeploymentState) {
  const changed =
    (drift?.count ?? 0) - (drift?.objects ?? []).filter(({ missing }) => missing).length;
  const modified = Math.max(0, Math.min(changed, counts.ready));
  return { ...counts, ready: counts.ready - modified, modified };
}

function missing(resource: ResourceState) {
  return { ...named(resource), missing: true };
}

function listed(resource: ResourceState) {
  return { ...named(resource), ...(resource.state !== "ready" && { state: resource.state }) };
}

function named({ apiVersion, kind, namespace, name }: Omit<ResourceState, "state">) {
  return { apiVersion, kind, ...(namespace !== undefined && { namespace }), name };
}

/** The first ones whose JSON fits. */
export function thatFit<T>(items: readonly T[], chars: number): readonly T[] {
  let left = chars;
  const end = items.findIndex((item) => {
    left -= JSON.stringify(item).length + 1;
    return left < 0;
  });
  return end < 0 ? items : items.slice(0, end);
}
