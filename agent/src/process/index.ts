export { LimitError } from "./limit-error.ts";
export { createLimitRecords, type LimitRecords } from "./limit-records.ts";
export { limitsWithChildren, processLimits } from "./limits.ts";
