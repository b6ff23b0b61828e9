/** A release in the matrix, which depends on its deployment and on its cluster. Pure. */
import type { BundleDeployment, Cluster } from "@flotilla/shared/api";
import { presenceOf } from "../../base/index.ts";
import { stateOf, stateWhileOffline } from "../../rules/index.ts";
import type { Cell } from "./matrix.ts";

/** None without its cluster: it is deleted with the namespace of the cluster. */
export function cellOf(
  deployment: BundleDeployment,
  cluster: Cluster | undefined,
): Cell | undefined {
  if (cluster === undefined) return undefined;
  const state = stateOf(deployment);
  return {
    state: presenceOf(cluster) === "Connected" ? state : stateWhileOffline(state),
    version: deployment.status?.version ?? "",
  };
}

/** The namespace whose releases have other cells after a change of their cluster; undefined: there is none, or they have the same. */
export function namespaceOfChangedCells(
  before: Cluster | undefined,
  after: Cluster | undefined,
): string | undefined {
  const namespace = (after ?? before)?.status?.namespace;
  // Its deployments may have been there before it, and are there for minutes after it.
  const isSame = isOnline(before) === isOnline(after) && before?.status?.namespace === namespace;
  return isSame ? undefined : namespace;
}

/** Undefined without a cluster. */
function isOnline(cluster: Cluster | undefined): boolean | undefined {
  return cluster && presenceOf(cluster) === "Connected";
}
