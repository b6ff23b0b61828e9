export {
  clusterStatusWatches,
  createClusterController,
  createClusterPublisher,
} from "./cluster/controller.ts";
export { clusterReconciler } from "./cluster/reconcile.ts";
export { clusterStatus } from "./cluster/status.ts";
export { createClusterGroupPublisher } from "./clustergroup/controller.ts";
export { runLocalCluster } from "./localcluster/controller.ts";
export { createMappingController, createMappingPublisher } from "./mapping/controller.ts";
export { createScheduleController, createSchedulePublisher } from "./schedule/controller.ts";
export { ensureHubNamespace, ensureWorkspaces } from "./workspace/ensure.ts";
