/** Which deployments have an object in `downstreamResources`, by kind, name and the namespace of their release. */
import { type SupplyRef, supplyKey } from "@flotilla/shared/supply/supply.ts";
import type { Assignments } from "../assignment/assignments.ts";
import { createReferrers } from "../assignment/content-index.ts";

/** The names of those that are not being withdrawn. */
export type DownstreamReferrers = (
  ref: SupplyRef,
  namespace: string,
) => Promise<ReadonlySet<string>>;

export function createDownstreamReferrers(
  assignments: Pick<Assignments, "list">,
): DownstreamReferrers {
  const referrers = createReferrers(
    // One that is paused or waits for others refers to its objects all the same.
    { list: () => assignments.list().filter(({ withdrawing }) => !withdrawing) },
    ({ namespace, copies = [] }) => copies.map((ref) => keyOf(ref, namespace)),
  );
  return async (ref, namespace) => new Set(await referrers.of(keyOf(ref, namespace)));
}

function keyOf(ref: SupplyRef, namespace: string): string {
  return `${namespace}/${supplyKey(ref)}`;
}
