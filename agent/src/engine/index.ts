export { takeOver } from "./claims.ts";
export type { InSync } from "./deploy-pass.ts";
export { createDeployer, type Deployer } from "./deployer.ts";
export { createEngine, type EngineDeps } from "./engine.ts";
