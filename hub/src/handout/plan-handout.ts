/** What an agent is to be told, from what it holds and what the hub wants. Pure. */
import type { DeploymentKey, ObservedDeployment } from "@flotilla/proto/messages.ts";
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";

export type HandoutStep =
  | { readonly kind: "nothing" }
  | {
      readonly kind: "deploy";
      readonly deployment: DeploymentKey;
      readonly deploymentId: string;
      readonly paused: boolean;
      /** Whether the agent has to be sent the content, because it does not hold it. */
      readonly withContent: boolean;
    }
  | { readonly kind: "withdraw"; readonly deployment: DeploymentKey };

export interface HandoutPlan {
  readonly steps: readonly Exclude<HandoutStep, { kind: "nothing" }>[];
  /** Names that the agent holds and the hub does not know. Nothing is sent about them: absence never uninstalls. */
  readonly orphans: readonly string[];
}

const nothing: HandoutStep = { kind: "nothing" };

export function planHandout(
  holdings: readonly ObservedDeployment[],
  deployments: readonly BundleDeployment[],
): HandoutPlan {
  const held = new Map(holdings.map((holding) => [holding.name, holding]));
  const wanted = new Set(deployments.map(({ metadata }) => metadata.name));
  return {
    steps: deployments
      .map((deployment) => planDeployment(held.get(deployment.metadata.name), deployment))
      .filter((step) => step.kind !== "nothing")
      .toSorted(byName),
    orphans: holdings
      // What is on its way out already is nobody's any more.
      .filter(({ name, withdrawing }) => !withdrawing && !wanted.has(name))
      .map(({ name }) => name)
      .toSorted(),
  };
}

/** For one name. A BundleDeployment that is not there asks for nothing, whatever the agent holds. */
export function planDeployment(
  held: ObservedDeployment | undefined,
  deployment: BundleDeployment | undefined,
): HandoutStep {
  if (deployment === undefined) return nothing;
  const { metadata, spec } = deployment;
  const key: DeploymentKey = { name: metadata.name, uid: metadata.uid ?? "" };
  const isSame = held?.uid === key.uid;
  if (metadata.deletionTimestamp !== undefined) {
    // Also to an agent that does not hold it: it says so, and the hub can let go.
    return isSame && held.withdrawing ? nothing : { kind: "withdraw", deployment: key };
  }
  // Behind a rollout that has not let anything through yet.
  if (spec.deploymentID === "") return nothing;
  const paused = spec.paused ?? false;
  const holdsContent = isSame && !held.withdrawing && held.deploymentId === spec.deploymentID;
  if (holdsContent && held.paused === paused) return nothing;
  return {
    kind: "deploy",
    deployment: key,
    deploymentId: spec.deploymentID,
    paused,
    withContent: !holdsContent,
  };
}

/** What the agent holds once it has carried out a step. */
export function afterStep(step: Exclude<HandoutStep, { kind: "nothing" }>): ObservedDeployment {
  return step.kind === "withdraw"
    ? { ...step.deployment, deploymentId: "", paused: false, withdrawing: true }
    : {
        ...step.deployment,
        deploymentId: step.deploymentId,
        paused: step.paused,
        withdrawing: false,
      };
}

/** Whether a change of a BundleDeployment can mean anything to an agent; its status never does. */
export function concernsAgent(
  before: BundleDeployment | undefined,
  after: BundleDeployment | undefined,
): boolean {
  if (before === undefined || after === undefined) return after !== undefined;
  return (
    before.metadata.uid !== after.metadata.uid ||
    before.spec.deploymentID !== after.spec.deploymentID ||
    (before.spec.paused ?? false) !== (after.spec.paused ?? false) ||
    (before.metadata.deletionTimestamp === undefined) !==
      (after.metadata.deletionTimestamp === undefined)
  );
}

function byName(a: { deployment: DeploymentKey }, b: { deployment: DeploymentKey }): number {
  return a.deployment.name < b.deployment.name ? -1 : 1;
}
