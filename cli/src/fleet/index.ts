export { type AskOptions, askHub } from "./ask-hub.ts";
export type { HubOptions } from "./choose-hub.ts";
export { createLoginLink } from "./dashboard-login.ts";
export { describeFleet } from "./describe-fleet.ts";
export { installCrds } from "./install-crds.ts";
export { loadStartFleet } from "./load-start-fleet.ts";
export {
  createBootstrapSecret,
  ensureRegistrationToken,
  registrationSecretData,
  waitForAgent,
  waitForWorkspace,
} from "./registration.ts";
export { hubKubeconfig, runningFleet } from "./running-fleet.ts";
export type { StartedFleet } from "./start-fleet.ts";
export { waitForList, waitForObject } from "./wait.ts";
