export { type TargetCluster, type TargetGroup, targetFor } from "./match.ts";
export { mergeOptions } from "./merge.ts";
export { missing } from "./missing.ts";
export { selectorProblem } from "./selector-problem.ts";
