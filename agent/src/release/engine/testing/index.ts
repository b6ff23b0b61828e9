export { createLoggedDecisions } from "./logged-decisions.ts";
export { type Played, play, type Scenario, type Step } from "./scenario.ts";
export {
  type DesiredParts,
  releaseId,
  type SeveralReleases,
  startSeveralReleases,
} from "./several-releases.ts";
export { endOf } from "./test-agent.ts";
export { type PassResult, startTestEngine, type TestEngine } from "./test-engine.ts";
export { testRows } from "./test-rows.ts";
