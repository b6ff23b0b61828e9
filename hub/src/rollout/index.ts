export { createBundleController } from "./bundle/controller.ts";
export { createDeploymentWrites } from "./bundle/deployment-writer.ts";
export { createHubValues } from "./bundle/hub-values.ts";
export { createContentPacker, type Pack } from "./bundle/place.ts";
export { createBundlePublisher } from "./bundle/publisher.ts";
export { createTombstoneController } from "./bundledeployment/controller.ts";
export { release } from "./bundledeployment/reconcile.ts";
export { runSigning } from "./bundledeployment/sign-existing.ts";
export {
  deploymentStatus,
  isOutdated,
  isUrgentDeployment,
  type SequencedReport,
} from "./bundledeployment/status.ts";
export { createContentController } from "./contentgc/controller.ts";
export { fleetPlanOf } from "./plan/fleet-plan.ts";
export type {
  AgentAnswer,
  AskAgent,
  PlanQuestion,
  PlanTarget,
  UnknownPlan,
} from "./plan/plan-outcome.ts";
export { planIn, planSecretName } from "./plan/plan-secret.ts";
export type { ProposedChange } from "./proposal/proposed-bundle.ts";
export { type ProposedPlanDeps, proposedCandidates } from "./proposal/proposed-plan.ts";
export { planCandidates, sampled } from "./stageplan/desired-plan.ts";
export { planFleet } from "./stageplan/plan-candidates.ts";
export { createRolloutObjects } from "./stages/rollout-objects.ts";
