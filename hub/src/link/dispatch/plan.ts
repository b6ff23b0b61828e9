/** What to send an agent: what it has stored compared with the BundleDeployments of its cluster. Pure. */
import type { DeploymentKey, ObservedDeployment, ReleaseRequest } from "@flotilla/proto";
import type { BundleDeployment } from "@flotilla/shared/api";
import { requestOf } from "@flotilla/shared/api/names";
import { signatureOf } from "../../rules/index.ts";

export type DispatchStep =
  | { readonly kind: "nothing" }
  | {
      readonly kind: "deploy";
      readonly deployment: DeploymentKey;
      readonly deploymentId: string;
      readonly paused: boolean;
      readonly request?: ReleaseRequest;
      /** Whether the agent needs the content, because it does not have it, or has it with another verification. */
      readonly withContent: boolean;
      /** What the agent verifies before the first run of Helm for the content; absent: nothing. */
      readonly verification?: DueVerification;
    }
  | {
      readonly kind: "withdraw";
      readonly deployment: DeploymentKey;
      /** The content that the agent needs to find the release, because it has lost the deployment. */
      readonly lostId?: string;
      /** The release stays installed, because the deployment is suspended. */
      readonly keepsRelease?: true;
    };

/** What was approved to change with a content that is not applied yet, and when that was promoted. */
export interface DueVerification {
  readonly diff: string;
  readonly at: string;
}

export interface DispatchPlan {
  readonly steps: readonly Exclude<DispatchStep, { kind: "nothing" }>[];
  /** Names that the agent has and the hub does not have. Nothing is sent about them: absence never uninstalls. */
  readonly orphans: readonly string[];
}

const nothing: DispatchStep = { kind: "nothing" };

export function planDispatch(
  stored: readonly ObservedDeployment[],
  deployments: readonly BundleDeployment[],
): DispatchPlan {
  const observed = new Map(stored.map((each) => [each.name, each]));
  const desired = new Set(deployments.map(({ metadata }) => metadata.name));
  return {
    steps: deployments
      .map((deployment) => planDeployment(observed.get(deployment.metadata.name), deployment))
      .filter((step) => step.kind !== "nothing")
      .toSorted(byName),
    orphans: stored
      .filter(({ name, withdrawing }) => !withdrawing && !desired.has(name))
      .map(({ name }) => name)
      .toSorted(),
  };
}

/** For one name. Without a BundleDeployment there is nothing to do, whatever the agent has. */
export function planDeployment(
  observed: ObservedDeployment | undefined,
  deployment: BundleDeployment | undefined,
): DispatchStep {
  if (deployment === undefined) return nothing;
  const { metadata, spec } = deployment;
  const key: DeploymentKey = { name: metadata.name, uid: metadata.uid ?? "" };
  const isSame = observed?.uid === key.uid;
  if (metadata.deletionTimestamp !== undefined) {
    if (spec.suspend === true)
      return isSame && observed.withdrawing
        ? nothing
        : { kind: "withdraw", deployment: key, keepsRelease: true };
    if (isSame) return observed.withdrawing ? nothing : { kind: "withdraw", deployment: key };
    // Also to an agent that does not have it: it confirms, and the hub removes the finalizer.
    const isLost = deployment.status?.agent !== undefined && spec.deploymentID !== "";
    return { kind: "withdraw", deployment: key, ...(isLost && { lostId: spec.deploymentID }) };
  }
  // The rollout has not released anything yet, or its agent has refused the first installation.
  if (spec.deploymentID === "") return isSame ? takenBack(observed, spec) : nothing;
  const paused = isHeld(spec);
  const verification = dueVerification(deployment);
  const hasContent =
    isSame &&
    !observed.withdrawing &&
    observed.deploymentId === spec.deploymentID &&
    (isApplied(deployment) || observed.verificationAt === verification?.at);
  const request = requestIn(spec);
  const hasRequest = request === undefined || observed?.requestToken === request.token;
  if (hasContent && observed.paused === paused && hasRequest) return nothing;
  return {
    kind: "deploy",
    deployment: key,
    deploymentId: spec.deploymentID,
    paused,
    ...(request !== undefined && { request }),
    withContent: !hasContent,
    ...(!hasContent && verification !== undefined && { verification }),
  };
}

/** What was applied is not verified again: what an upgrade has changed since is another diff. */
function dueVerification(deployment: BundleDeployment): DueVerification | undefined {
  const { planned, at = "" } = deployment.spec.promotion ?? {};
  return planned === undefined || isApplied(deployment) ? undefined : { diff: planned, at };
}

function isApplied({ spec, status }: BundleDeployment): boolean {
  return status?.appliedDeploymentID === spec.deploymentID;
}

/** Nothing was there before, so the agent keeps what it has refused, and does not try it again before it is promoted. */
function takenBack(
  observed: ObservedDeployment,
  { promotion }: BundleDeployment["spec"],
): DispatchStep {
  const { name, uid, deploymentId, paused, withdrawing } = observed;
  const isRefused = promotion?.refused !== undefined && promotion.from === deploymentId;
  if (!isRefused || withdrawing || paused) return nothing;
  return {
    kind: "deploy",
    deployment: { name, uid },
    deploymentId,
    paused: true,
    withContent: false,
  };
}

/** The agent changes nothing. */
function isHeld({ paused, suspend, offSchedule }: BundleDeployment["spec"]): boolean {
  return paused === true || suspend === true || offSchedule === true;
}

function requestIn(spec: BundleDeployment["spec"]): ReleaseRequest | undefined {
  const request = requestOf(spec);
  if (request === undefined) return undefined;
  const { correctDrift, ...others } = request;
  return { ...others, ...(correctDrift && { correctDrift }) };
}

/** What the agent has once it has applied a step. */
export function storedAfter(
  step: Exclude<DispatchStep, { kind: "nothing" }>,
  before: ObservedDeployment | undefined,
): ObservedDeployment {
  if (step.kind === "withdraw")
    return { ...step.deployment, deploymentId: "", paused: false, withdrawing: true };
  const verificationAt = step.withContent ? step.verification?.at : before?.verificationAt;
  return {
    ...step.deployment,
    deploymentId: step.deploymentId,
    paused: step.paused,
    withdrawing: false,
    ...(step.request !== undefined && { requestToken: step.request.token }),
    ...(verificationAt !== undefined && { verificationAt }),
  };
}

/** Whether a change of a BundleDeployment may need a message to the agent; a change of its status never does. */
export function affectsAgent(
  before: BundleDeployment | undefined,
  after: BundleDeployment | undefined,
): boolean {
  if (before === undefined || after === undefined) return after !== undefined;
  return (
    before.metadata.uid !== after.metadata.uid ||
    before.spec.deploymentID !== after.spec.deploymentID ||
    isHeld(before.spec) !== isHeld(after.spec) ||
    before.spec.requestedAt !== after.spec.requestedAt ||
    // With a signature it may be sent that was not sent without.
    signatureOf(before) !== signatureOf(after) ||
    (before.metadata.deletionTimestamp === undefined) !==
      (after.metadata.deletionTimestamp === undefined)
  );
}

function byName(a: { deployment: DeploymentKey }, b: { deployment: DeploymentKey }): number {
  return a.deployment.name < b.deployment.name ? -1 : 1;
}
