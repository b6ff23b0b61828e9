export { createPodReasons, type PodReasons } from "./pod-reasons.ts";
export { toWorkload, type Workload } from "./workload.ts";
export type { WorkloadReason } from "./workload-reason.ts";
