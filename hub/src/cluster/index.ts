export {
  clusterStatusWatches,
  createClusterController,
  createClusterPublisher,
} from "./controller.ts";
export { clusterReconciler } from "./reconcile.ts";
export { clusterStatus } from "./status.ts";
