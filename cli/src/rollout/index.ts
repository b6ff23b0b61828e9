export type { RolloutChange } from "./change-plan.ts";
export { changeRollout } from "./change-rollout.ts";
export { confirm, confirmIfAsked, isInteractive, type Terminal } from "./confirm.ts";
export {
  decisionCommand,
  gateResult,
  planDecision,
  readGate,
  writeDecision,
} from "./decide-gate.ts";
export { decisionEffect } from "./decision-effect.ts";
export { gateText } from "./decision-refusal.ts";
export { type AppRef, appText, newestRollout, readRollouts } from "./find-rollouts.ts";
export { readDecisionFacts } from "./read-decision-facts.ts";
export { resolveStrategy } from "./read-strategy.ts";
export { chooseApproval } from "./waiting-approval.ts";
export { watchRollout } from "./watch-rollout.ts";
