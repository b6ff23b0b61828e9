export { helmStartEnvironment } from "./helm-start.ts";
export { killGroup } from "./kill-group.ts";
export { exceededLimit, largestOverTotal, type ProcessLimits } from "./limits.ts";
export { renice } from "./process-usage.ts";
export { createProcessWatch, type ProcessWatch, type WatchedProcess } from "./process-watch.ts";
