/** What the members of a staged rollout are made from: the target clusters of a Bundle with their deployments. Pure. */
import type { Bundle, BundleDeployment, Cluster } from "@flotilla/shared/api";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/objects";
import { isForCluster } from "../../base/index.ts";
import type { DeploymentSigner } from "../../rules/index.ts";
import type { Member, MemberPlan } from "./member.ts";
import { memberOf } from "./members.ts";
import type { PinnedContent } from "./pinned-contents.ts";
import { requestedOf } from "./requested.ts";

/** A target cluster of a Bundle, with what the hub knows of it. */
export interface SourceOfMember {
  readonly key: ObjectKey;
  readonly cluster: Cluster;
  readonly isSuspended: boolean;
  /** The content of the revision; undefined: none of its targets match. */
  readonly content: PinnedContent | undefined;
  /** Undefined: there is none yet. */
  readonly deployment: BundleDeployment | undefined;
  /** Whether the hub wrote the deployment for this Bundle. */
  readonly isSigned: boolean;
}

/** In the order of the names of the clusters. */
export function memberSources(
  { metadata }: Bundle,
  placements: readonly {
    readonly cluster: Cluster;
    readonly namespace: string;
    readonly isSuspended: boolean;
  }[],
  {
    existing,
    contents,
    signer,
  }: {
    readonly existing: readonly BundleDeployment[];
    readonly contents: ReadonlyMap<ObjectKey, PinnedContent>;
    readonly signer: Pick<DeploymentSigner, "isSignedFor">;
  },
): readonly SourceOfMember[] {
  const deployments = new Map(
    existing
      .filter((deployment) => deployment.metadata.deletionTimestamp === undefined)
      .map((deployment) => [deployment.metadata.namespace, deployment]),
  );
  const ordered = [...placements].sort((a, b) => (nameOf(a.cluster) < nameOf(b.cluster) ? -1 : 1));
  return ordered.map(({ cluster, namespace, isSuspended }) => {
    const found = deployments.get(namespace);
    // One of an earlier Cluster of that name is deleted.
    const isOwn = found !== undefined && isForCluster(found, cluster.metadata.uid);
    const deployment = isOwn ? found : undefined;
    return {
      key: keyOf(cluster),
      cluster,
      isSuspended,
      content: contents.get(keyOf(cluster)),
      deployment,
      isSigned: deployment !== undefined && signer.isSignedFor(deployment, metadata.uid),
    };
  });
}

/**
 * `planOf`: what would change in one; undefined: not known, or nobody asks. `needsApproval`: whether a Policy requires an approval
 * before a cluster.
 */
export function membersOf(
  bundle: Bundle,
  sources: readonly SourceOfMember[],
  {
    skip,
    needsApproval,
    planOf,
  }: {
    readonly skip: ReadonlySet<string>;
    readonly needsApproval: (cluster: Cluster) => boolean;
    readonly planOf: (source: SourceOfMember) => MemberPlan | undefined;
  },
): readonly Member[] {
  const { spec } = bundle;
  const { forceAt } = requestedOf(bundle);
  const isHeld = spec.paused === true || spec.suspend === true;
  return sources.map((source) => {
    const { cluster, deployment, isSigned, isSuspended, content } = source;
    return memberOf({
      cluster,
      deployment,
      isSigned,
      content: content?.deploymentId ?? "",
      isHeld: isHeld || isSuspended,
      skip,
      needsApproval: needsApproval(cluster),
      forceAt,
      plan: planOf(source),
    });
  });
}

function nameOf({ metadata }: Cluster): string {
  return `${metadata.name} ${metadata.namespace ?? ""}`;
}
