export { type TargetCluster, type TargetGroup, type Targeting, targetFor } from "./match.ts";
export { mergeOptions } from "./merge.ts";
export { missing } from "./missing.ts";
export { selectorProblem } from "./selector-problem.ts";
