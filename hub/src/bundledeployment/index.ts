export { createTombstoneController } from "./controller.ts";
export { release } from "./reconcile.ts";
export { runSigning } from "./sign-existing.ts";
export {
  deploymentStatus,
  isOutdated,
  isUrgentDeployment,
  type SequencedReport,
} from "./status.ts";
