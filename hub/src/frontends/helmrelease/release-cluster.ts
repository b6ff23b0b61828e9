/** A release in one cluster, as `status.clusters` has it. Pure. */

import type { BundleDeployment } from "@flotilla/shared/api";
import { findCondition } from "@flotilla/shared/conditions";
import type { ReleaseCluster } from "@flotilla/shared/flux";
import { fluxType } from "@flotilla/shared/flux/reasons";
import type { ObjectRef } from "@flotilla/shared/kube/objects";
import { cutText } from "@flotilla/shared/text";
import { parseReleaseId, stateOf, stateWhileOffline, unheardText } from "../../rules/index.ts";

/** A status lists several of them. */
const longestMessage = 256;

export interface ClusterPresence {
  readonly isOffline: boolean;
  /** Since when it is offline; "" where no agent ever connected. */
  readonly since: string;
}

export function releaseCluster(
  deployment: BundleDeployment,
  { namespace, name }: ObjectRef,
  { isOffline, since }: ClusterPresence,
): ReleaseCluster {
  const { status } = deployment;
  const known = stateOf(deployment);
  const state = isOffline ? stateWhileOffline(known) : known;
  const message =
    state === "Offline"
      ? unheardText(deployment, since)
      : (findCondition(status?.conditions, fluxType.ready)?.message ?? "");
  const release = parseReleaseId(status?.release);
  return {
    name,
    ...(namespace !== undefined && { namespace }),
    state,
    ...(message !== "" && { message: cutText(message, longestMessage) }),
    ...(release !== undefined && { revision: release.revision }),
    ...(status?.version !== undefined && { version: status.version }),
  };
}
