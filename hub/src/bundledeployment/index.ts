export { createTombstoneController } from "./controller.ts";
export { release } from "./reconcile.ts";
export {
  deploymentStatus,
  isOutdated,
  isUrgentDeployment,
  type SequencedReport,
} from "./status.ts";
