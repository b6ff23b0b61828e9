export { killGroup } from "./kill-group.ts";
export { LimitError } from "./limit-error.ts";
export { createLimitRecords, type LimitRecords } from "./limit-records.ts";
export { limitsWithChildren, type ProcessLimits, processLimits } from "./limits.ts";
export { lowerPriority } from "./process-usage.ts";
export { createProcessWatch, type ProcessWatch, type WatchedProcess } from "./process-watch.ts";
