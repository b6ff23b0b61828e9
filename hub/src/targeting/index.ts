export { explainTarget, type TargetExplanation } from "./explain.ts";
export {
  type TargetCluster,
  type TargetGroup,
  targetFor,
  toTargetCluster,
  toTargetGroup,
} from "./match.ts";
export { mergeOptions } from "./merge.ts";
export { missing } from "./missing.ts";
export { selectorProblem } from "./selector-problem.ts";
