export { takeOver } from "./action/claims.ts";
export type { InSync } from "./action/deploy-pass.ts";
export { createDeployer, type Deployer } from "./engine/deployer.ts";
export { createEngine, type EngineDeps } from "./engine/engine.ts";
export { applyRemarks } from "./state/apply-remarks.ts";
