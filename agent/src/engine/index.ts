export { takeOver } from "./claims.ts";
export { createDeployer, type Deployer, type InSync } from "./deployer.ts";
export { createEngine, type EngineDeps } from "./engine.ts";
