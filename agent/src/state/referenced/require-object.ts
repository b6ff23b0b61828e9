/** Gives a deployment the objects that it references, or an error for people. Pure. */

import { type ObjectRef, parseObjectRef } from "@flotilla/shared/api";
import { AppError } from "@flotilla/shared/errors";
import type { ReferencedObjectData } from "@flotilla/shared/referenced";
import { agentErrors } from "../../base/errors/index.ts";
import type { ClusterInfoStore } from "./cluster-info.ts";
import type { ReferencedObjects } from "./referenced-objects.ts";

export interface ReferencedDeps {
  readonly referenced: Pick<ReferencedObjects, "get">;
  readonly clusterInfo: Pick<ClusterInfoStore, "get">;
}

/** For messages. */
export interface ReferenceUse {
  /** The field that references the object. */
  readonly field: string;
  /** As in `with the credentials for the chart's source`. */
  readonly purpose: string;
}

/**
 * The last version that the hub had. Throws REFERENCED_OBJECT_PENDING if the hub has not sent anything about the object, and
 * REFERENCED_OBJECT_NOT_FOUND if the hub never had it.
 */
export function requireObject(
  ref: ObjectRef,
  { field, purpose }: ReferenceUse,
  deps: ReferencedDeps,
): ReferencedObjectData {
  const known = deps.referenced.get(ref);
  const shown = `${ref.kind} ${nameOnHub(ref.name, deps)}`;
  if (known === undefined) {
    throw new AppError(
      agentErrors.REFERENCED_OBJECT_PENDING,
      `waiting for the hub to send the ${shown}, ${purpose}`,
    );
  }
  if (known.object === undefined) {
    throw new AppError(
      agentErrors.REFERENCED_OBJECT_NOT_FOUND,
      `the hub has no ${shown}, which ${field} references; the agent continues as soon as it exists`,
    );
  }
  return known.object;
}

/** With the cluster's workspace, if that is known. */
export function nameOnHub(
  name: string,
  { clusterInfo }: Pick<ReferencedDeps, "clusterInfo">,
): string {
  if (name.includes("/")) return name;
  const namespace = clusterInfo.get()?.namespace;
  return namespace === undefined ? name : `${namespace}/${name}`;
}

/**
 * A warning about objects that the hub had once and has not now. `keys`: of what the deployment references. Undefined when
 * there are none.
 */
export function deletedOnHubWarning(
  keys: readonly string[],
  referenced: Pick<ReferencedObjects, "get">,
): string | undefined {
  const deleted = keys.flatMap((key) => {
    const ref = parseObjectRef(key);
    const known = ref && referenced.get(ref);
    return known === undefined || known.digest !== undefined
      ? []
      : [`the ${ref?.kind} ${ref?.name}`];
  });
  return deleted.length === 0
    ? undefined
    : `the hub does not have ${deleted.join(" and ")} any more; what was installed with it stays`;
}
