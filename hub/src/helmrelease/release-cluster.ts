/** A release in one cluster, as `status.clusters` has it. Pure. */
import type { BundleDeployment } from "@flotilla/shared/api";
import { findCondition } from "@flotilla/shared/conditions";
import type { ReleaseCluster } from "@flotilla/shared/flux";
import type { ObjectRef } from "@flotilla/shared/kube/objects";
import { stateOf } from "../summary/index.ts";

/** A status lists several of them. */
const longestMessage = 256;

export function releaseCluster(
  deployment: BundleDeployment,
  { namespace, name }: ObjectRef,
): ReleaseCluster {
  const { status } = deployment;
  const state = stateOf(deployment);
  const message = findCondition(status?.conditions, "Ready")?.message ?? "";
  const revision = /:(\d+)$/.exec(status?.release ?? "")?.[1];
  return {
    name,
    ...(namespace !== undefined && { namespace }),
    state,
    ...(message !== "" && { message: message.slice(0, longestMessage) }),
    ...(revision !== undefined && { revision: Number(revision) }),
    ...(status?.version !== undefined && { version: status.version }),
  };
}
