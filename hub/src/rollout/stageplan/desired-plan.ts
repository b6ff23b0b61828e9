/**
 * What `flotilla plan` asks for: the content that each cluster of an app is to get, whether a rollout, a pause or a limit holds it or not.
 * Only contents that the hub has stored and signed for it are planned: an agent renders them as the account of the deployment.
 */
import type {
  Bundle,
  BundleDeployment,
  Cluster,
  ClusterGroup,
  RolloutStrategy,
} from "@flotilla/shared/api";
import type { BundleRolloutStatus } from "@flotilla/shared/api/rollout";
import { createTimeSlices } from "@flotilla/shared/concurrency";
import { byNamespace, type Store } from "@flotilla/shared/kube/cache";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/objects";
import { byBundle, clusterKeyOf, isForCluster } from "../../base/index.ts";
import {
  assignStages,
  isStaged,
  type Mappings,
  type PolicyDeps,
  type RolloutStrategies,
  reachOf,
  stagesOf,
  type TargetGroup,
  toTargetCluster,
  toTargetGroup,
} from "../../rules/index.ts";
import type { KnownPlan, PlanOutcome, PlanTarget } from "../plan/plan-outcome.ts";
import { digestOf } from "../stages/gate.ts";
import { type PinnedContent, pinnedContents } from "../stages/pinned-contents.ts";
import { isRefused, refusalsOf } from "../stages/refusals.ts";
import type { RolloutObjects } from "../stages/rollout-objects.ts";

/** A cluster of a plan. */
export interface PlanCandidate {
  /** `namespace/name` of its Cluster. */
  readonly cluster: string;
  /** The stage that takes it; undefined: none does, or there are none. */
  readonly stage: string | undefined;
  /** Clusters with the same text are expected to have the same plan. */
  readonly kind: string;
  /** What is asked, or what is known without asking. */
  readonly plan: { readonly kind: "ask"; readonly target: PlanTarget } | PlanOutcome;
}

export interface DesiredPlanDeps {
  readonly clusters: Pick<Store<Cluster>, "byIndex">;
  readonly groups: Pick<Store<ClusterGroup>, "byIndex">;
  readonly deployments: Pick<Store<BundleDeployment>, "byIndex">;
  readonly rollouts: Pick<RolloutObjects, "of">;
  readonly mappings: Mappings;
  /** Policies of the namespaces that mappings add. */
  readonly policy: PolicyDeps;
  readonly strategies: Pick<RolloutStrategies, "strategyOf">;
  /** Whether the hub wrote it for its Bundle. */
  readonly isTrusted: (deployment: BundleDeployment) => boolean;
}

/** The content that is planned for a cluster. */
export interface PlannedContent extends PinnedContent {
  /** Packed, where it is not stored. */
  readonly content?: Uint8Array;
}

/** Phases in which clusters get the revision of a rollout, or will. */
const pinning: ReadonlySet<BundleRolloutStatus["phase"]> = new Set([
  "Progressing",
  "Waiting",
  "Halted",
  "Completed",
]);

/**
 * In the order of their names, with the Clusters of namespaces that mappings add. A namespace whose Policies refuse the Bundle is
 * left out.
 */
export async function planCandidates(
  deps: DesiredPlanDeps,
  bundle: Bundle,
): Promise<readonly PlanCandidate[]> {
  const { namespaces } = reachOf(deps, bundle, new Map());
  const groups = namespaces
    .flatMap((each) => deps.groups.byIndex(byNamespace, each))
    .map(toTargetGroup);
  const clusters = namespaces
    .flatMap((each) => deps.clusters.byIndex(byNamespace, each))
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const existing = deploymentsOf(deps, bundle);
  const strategy = deps.strategies.strategyOf(bundle);
  const rollout = isStaged(strategy) ? deps.rollouts.of(bundle).at(-1) : undefined;
  const isPinned = rollout !== undefined && pinning.has(rollout.status?.phase ?? "Progressing");
  const pinned = isPinned
    ? await pinnedContents(rollout, clusters, groups, createTimeSlices())
    : undefined;
  const stages = stagesBy(strategy, clusters, groups);
  return clusters.flatMap((cluster): readonly PlanCandidate[] => {
    const key = keyOf(cluster);
    const own = ownDeployment(existing, cluster);
    const content = pinned === undefined ? staged(own) : pinned.get(key);
    if (content === undefined) return [];
    return [candidateOf(deps, { cluster, stage: stages?.get(key), own, content })];
  });
}

/** The deployments of a Bundle that are not withdrawn, by key of their cluster. */
export function deploymentsOf(
  { deployments }: Pick<DesiredPlanDeps, "deployments">,
  bundle: Bundle,
): ReadonlyMap<ObjectKey, BundleDeployment> {
  return new Map(
    deployments
      .byIndex(byBundle, keyOf(bundle))
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map((deployment) => [clusterKeyOf(deployment), deployment] as const),
  );
}

/** Undefined also where it is of a Cluster of that name which was there before. */
export function ownDeployment(
  existing: ReadonlyMap<ObjectKey, BundleDeployment>,
  cluster: Cluster,
): BundleDeployment | undefined {
  const found = existing.get(keyOf(cluster));
  return found !== undefined && isForCluster(found, cluster.metadata.uid) ? found : undefined;
}

/** The stage of each cluster; undefined: there are none. */
export function stagesBy(
  strategy: RolloutStrategy | undefined,
  clusters: readonly Cluster[],
  groups: readonly TargetGroup[],
): ReadonlyMap<ObjectKey, string> | undefined {
  if (!isStaged(strategy)) return undefined;
  return assignStages(
    stagesOf(strategy),
    clusters.map((cluster) => ({ ...toTargetCluster(cluster), key: keyOf(cluster) })),
    groups,
  );
}

/** What a cluster is to get, and what it has. */
interface PlannedCluster {
  readonly cluster: Pick<Cluster, "metadata" | "status">;
  readonly stage: string | undefined;
  readonly own: BundleDeployment | undefined;
  readonly content: PlannedContent;
}

export function candidateOf(
  { isTrusted }: Pick<DesiredPlanDeps, "isTrusted">,
  { cluster, stage, own, content }: PlannedCluster,
): PlanCandidate {
  const key = keyOf(cluster);
  const installed = own?.status?.appliedDeploymentID ?? "";
  return {
    cluster: key,
    stage,
    kind: [content.deploymentId, installed, minorVersionOf(cluster)].join(" "),
    plan: own === undefined || isTrusted(own) ? planOf(key, content, own) : unsigned,
  };
}

/** `1.36`: what charts ask for, and defaults of the API server, differ between minor versions; "" where it is not known. */
function minorVersionOf({ status }: Pick<Cluster, "status">): string {
  const [, minor = ""] = /^v?(\d+\.\d+)/.exec(status?.agent?.kubernetesVersion ?? "") ?? [];
  return minor;
}

/** Without stages: what a pause, a limit or a window holds is staged. */
function staged(deployment: BundleDeployment | undefined): PlannedContent | undefined {
  if (deployment === undefined) return undefined;
  const { stagedDeploymentID, deploymentID, referencedObjects } = deployment.spec;
  const deploymentId = stagedDeploymentID || deploymentID;
  return deploymentId === ""
    ? undefined
    : { deploymentId, referencedObjects: referencedObjects ?? [] };
}

const unsigned: PlanOutcome = {
  kind: "unknown",
  reason: "Unplannable",
  message: "the hub did not write its BundleDeployment",
};

/** How the plan of a cluster is found. `deployment`: written by the hub; undefined: there is none yet. */
export function planOf(
  cluster: string,
  { deploymentId, referencedObjects, content }: PlannedContent,
  deployment: BundleDeployment | undefined,
): PlanCandidate["plan"] {
  // What its agent has refused to install for the first time is compared with what is there.
  if (deployment === undefined || (deployment.spec.deploymentID === "" && !wasRefused(deployment)))
    return firstInstallation(deploymentId);
  const { metadata, spec } = deployment;
  // What was refused is being taken back, with the objects that it refers to.
  const isStanding = !isRefused(deployment);
  const known = new Set(isStanding ? spec.referencedObjects : []);
  const target: PlanTarget = {
    cluster,
    deployment: { name: metadata.name, uid: metadata.uid ?? "" },
    deploymentId,
    hasContent: isStanding && spec.deploymentID === deploymentId,
    objects: referencedObjects.filter((each) => !known.has(each)),
    ...(content !== undefined && { content }),
  };
  return { kind: "ask", target };
}

function wasRefused(deployment: BundleDeployment): boolean {
  return refusalsOf(deployment) > 0;
}

/**
 * The plan of a cluster that has no deployment yet: its agent has nothing to compare with, and all of the content is installed. Equal for
 * all such clusters that get the same content.
 */
function firstInstallation(deploymentId: string): KnownPlan {
  const digest = digestOf(["FirstInstallation", deploymentId]);
  return {
    kind: "known",
    result: {
      result: "install",
      counts: { create: 0, update: 0, replace: 0, delete: 0 },
      digest,
      shape: digest,
      applied: "",
      revision: 0,
      remarks: ["FirstInstallation"],
      hooks: 0,
      failures: 0,
    },
  };
}

/** At most `most` clusters of each kind; undefined: all. The others are expected to have the same plan. */
export function sampled(
  candidates: readonly PlanCandidate[],
  most: number | undefined,
): readonly PlanCandidate[] {
  if (most === undefined) return candidates;
  const counts = new Map<string, number>();
  return candidates.filter(({ kind }) => {
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    return count <= most;
  });
}
