export {
  createHelmOps,
  createRegistration,
  deleteSimulation,
  deleteSimulationsNamed,
  type Simulation,
  validateName,
} from "./hub-objects.ts";
export { newBootstraps, simulationLabel, simulationName } from "./plan.ts";
export { openFilesLimit, runAgents, validateOpenFiles } from "./run-agents.ts";
