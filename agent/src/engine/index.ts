export { createDeployer, type Deployer } from "./deployer.ts";
export { createEngine, type EngineDeps } from "./engine.ts";
