/** Makes the members of a rollout from Clusters and their BundleDeployments. Pure. */
import type { AgentCapability, BundleDeployment, Cluster } from "@flotilla/shared/api";
import type { ReleaseTests } from "@flotilla/shared/api/rollout";
import { findCondition } from "@flotilla/shared/conditions";
import { fluxReason, fluxType } from "@flotilla/shared/flux/reasons";
import type { ObjectKey } from "@flotilla/shared/kube/objects";
import { parseTime } from "@flotilla/shared/time";
import { offlineSince, presenceOf } from "../../base/index.ts";
import { hasNoRetriesLeft, isAboutDesired } from "../../rules/index.ts";
import type { Member, MemberPlan } from "./member.ts";
import { isRefused } from "./refusals.ts";

/** A target cluster, and what is known of it. */
export interface MemberSource {
  readonly cluster: Cluster;
  readonly key: ObjectKey;
  /** Undefined: there is none yet. */
  readonly deployment: BundleDeployment | undefined;
  /** Whether the hub wrote the deployment for this Bundle: what else it says counts for nothing. */
  readonly isSigned: boolean;
  /** The content of the revision; "" where none of its targets match. */
  readonly content: string;
  /** The Bundle or the target is paused or suspended. */
  readonly isHeld: boolean;
  readonly skip: ReadonlySet<string>;
  /** What the tests of its release mean; absent: it runs none. */
  readonly tests?: ReleaseTests;
  /** A Policy requires an approval before it. */
  readonly needsApproval?: boolean;
  /** The request to force; undefined: there is none. */
  readonly forceAt?: string | undefined;
  /** What would change in it; undefined: not known, or nobody asks. */
  readonly plan: MemberPlan | undefined;
}

export function memberOf(source: MemberSource): Member {
  const { cluster, key, deployment, isSigned, content, isHeld, skip, plan } = source;
  const { conditions, appliedDeploymentID = "", ready } = deployment?.status ?? {};
  const { promotion, deploymentID = "" } = deployment?.spec ?? {};
  const wasRefused = isSigned && deployment !== undefined && isRefused(deployment);
  const id = wasRefused ? (promotion?.from ?? "") : deploymentID;
  const desired = isSigned || id === content ? id : "";
  const isReady = ready === true && appliedDeploymentID === desired;
  const isAbout = deployment !== undefined && isAboutDesired(deployment);
  const condition = findCondition(conditions, "Ready");
  const tests = findCondition(conditions, fluxType.testSuccess)?.status;
  const failure = findCondition(conditions, "Deployed");
  return {
    key,
    content,
    desired,
    applied: appliedDeploymentID,
    isReady,
    unreadySinceMs:
      isReady || condition?.status === "True"
        ? undefined
        : parseTime(condition?.lastTransitionTime),
    promotion: isSigned ? promotion : undefined,
    hasGivenUp: isAbout && hasNoRetriesLeft(deployment),
    waitsForDependency:
      isAbout &&
      findCondition(conditions, fluxType.reconciling)?.reason === fluxReason.dependencyNotReady,
    dependencies: (isAbout && deployment.status?.waitsFor) || [],
    dependenciesMetMs: parseTime(deployment?.status?.dependenciesMetAt),
    tests: source.tests ?? "None",
    testsPassed:
      tests === undefined || tests === "Unknown" || !isAbout ? undefined : tests === "True",
    isConnected: presenceOf(cluster) === "Connected" && cluster.status?.namespace !== undefined,
    offlineSince: offlineSince(cluster),
    isPaused: isHeld || cluster.spec.paused === true,
    wasPaused: isSigned && deployment?.spec.paused === true,
    isOffSchedule: cluster.status?.scheduled === true && cluster.status.activeSchedule !== true,
    isHeld: isSigned && deployment?.spec.offSchedule === true,
    isSkipped: skip.has(key),
    needsApproval: source.needsApproval === true,
    force: forceOf(source),
    message: (failure?.status === "False" ? failure.message : condition?.message) ?? "",
    plan,
    refused: wasRefused ? deploymentID : undefined,
    cannotVerify: cannotVerify(cluster),
  };
}

const verifying: AgentCapability = "VerifyPlan";

function cannotVerify({ status }: Cluster): string | undefined {
  const { capabilities, version = "unknown" } = status?.agent ?? {};
  return capabilities?.includes(verifying) === true
    ? undefined
    : `its agent has version ${version}, which does not plan once more right before Helm runs; upgrade the agent, or add the cluster to skip`;
}

function forceOf({ deployment, forceAt }: MemberSource): Member["force"] {
  if (deployment === undefined || forceAt === undefined) return undefined;
  if (deployment.status?.lastRequest?.token === forceAt) return "answered";
  return deployment.spec.forceAt === forceAt ? "sent" : "waiting";
}
