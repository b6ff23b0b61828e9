/** An object that a deployment needs out of what the hub supplied, or in words why there is none. Pure. */

import type { ObjectRef } from "@flotilla/shared/api/bundle-deployment.ts";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import type { ReferencedObjectData } from "@flotilla/shared/referenced/referenced-object.ts";
import { agentErrors } from "../errors.ts";
import type { Facts } from "./facts.ts";
import type { Supplies } from "./supplies.ts";

export interface SuppliedDeps {
  readonly supplies: Pick<Supplies, "get">;
  readonly facts: Pick<Facts, "get">;
}

/** Who asks for it, for messages. */
export interface SupplyUse {
  /** The field that names it. */
  readonly field: string;
  /** As in `with the credentials for the chart's source`. */
  readonly what: string;
}

/** The last that the hub had. Throws SUPPLY_AWAITED where nothing was heard of it yet, SUPPLY_MISSING where it never had one. */
export function supplied(
  ref: ObjectRef,
  { field, what }: SupplyUse,
  deps: SuppliedDeps,
): ReferencedObjectData {
  const known = deps.supplies.get(ref);
  const shown = `${ref.kind} ${nameOnHub(ref.name, deps)}`;
  if (known === undefined) {
    throw new AppError(
      agentErrors.SUPPLY_AWAITED,
      `waiting for the ${shown}, ${what}, which the hub has not sent yet`,
    );
  }
  if (known.object === undefined) {
    throw new AppError(
      agentErrors.SUPPLY_MISSING,
      `the hub has no ${shown}, which ${field} names; it goes on as soon as there is one`,
    );
  }
  return known.object;
}

/** With the cluster's workspace, where that is known. */
export function nameOnHub(name: string, { facts }: Pick<SuppliedDeps, "facts">): string {
  const namespace = facts.get()?.namespace;
  return namespace === undefined ? name : `${namespace}/${name}`;
}
