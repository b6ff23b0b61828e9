/** What the members of a staged rollout are made from: the target clusters of a Bundle with their deployments. Pure. */
import type { Bundle, BundleDeployment, Cluster } from "@flotilla/shared/api";
import type { ReleaseTests } from "@flotilla/shared/api/rollout";
import type { ObjectKey } from "@flotilla/shared/kube/objects";
import { isForCluster } from "../../base/index.ts";
import type { DeploymentSigner } from "../../rules/index.ts";
import type { Member, MemberPlan } from "./member.ts";
import { compareNames } from "./member-numbers.ts";
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
    readonly key: ObjectKey;
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
  const ordered = [...placements].sort((a, b) =>
    compareNames(a.cluster.metadata, b.cluster.metadata),
  );
  return ordered.map(({ cluster, key, namespace, isSuspended }) =>
    sourceOf(
      { cluster, key, isSuspended, content: contents.get(key) },
      { found: deployments.get(namespace), signer, bundleUid: metadata.uid },
    ),
  );
}

/** `found`: the deployment of the Bundle in the namespace of the cluster. */
export function sourceOf(
  target: Pick<SourceOfMember, "cluster" | "key" | "isSuspended" | "content">,
  {
    found,
    signer,
    bundleUid,
  }: {
    readonly found: BundleDeployment | undefined;
    readonly signer: Pick<DeploymentSigner, "isSignedFor">;
    readonly bundleUid: string | undefined;
  },
): SourceOfMember {
  const { cluster } = target;
  // One of an earlier Cluster of that name is deleted.
  const isOwn =
    found !== undefined &&
    found.metadata.deletionTimestamp === undefined &&
    isForCluster(found, cluster.metadata.uid);
  const deployment = isOwn ? found : undefined;
  const isSigned = deployment !== undefined && signer.isSignedFor(deployment, bundleUid);
  const { key, isSuspended, content } = target;
  return { cluster, key, isSuspended, content, deployment, isSigned };
}

/**
 * `planOf`: what would change in one; undefined: not known, or nobody asks. `needsApproval`: whether a Policy requires an approval
 * before a cluster.
 */
export function membersOf(
  bundle: Bundle,
  sources: readonly SourceOfMember[],
  options: MemberOptions,
): readonly Member[] {
  return sources.map(memberReader(bundle, options));
}

export interface MemberOptions {
  readonly skip: ReadonlySet<string>;
  /** What the tests of a release with this content mean. */
  readonly testsOf: (content: string) => ReleaseTests;
  readonly needsApproval: (cluster: Cluster) => boolean;
  readonly planOf: (source: SourceOfMember) => MemberPlan | undefined;
}

/** Makes the member of one source, as `membersOf` does for all. */
export function memberReader(
  bundle: Bundle,
  { skip, testsOf, needsApproval, planOf }: MemberOptions,
): (source: SourceOfMember) => Member {
  const { spec } = bundle;
  const { forceAt } = requestedOf(bundle);
  const isHeld = spec.paused === true || spec.suspend === true;
  return (source) => {
    const { cluster, key, deployment, isSigned, isSuspended, content } = source;
    return memberOf({
      cluster,
      key,
      deployment,
      isSigned,
      content: content?.deploymentId ?? "",
      isHeld: isHeld || isSuspended,
      skip,
      tests: content === undefined ? "None" : testsOf(content.deploymentId),
      needsApproval: needsApproval(cluster),
      forceAt,
      plan: planOf(source),
    });
  };
}
