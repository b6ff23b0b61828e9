export { explainTarget, nameOfTarget, selectorText } from "./explain.ts";
export {
  type TargetCluster,
  targetFor,
  targetsFor,
  toTargetCluster,
  toTargetGroup,
} from "./match.ts";
export { mergeOptions } from "./merge.ts";
export { missing } from "./missing.ts";
export { selectorProblem } from "./selector-problem.ts";
export { targetCountProblem } from "./target-count.ts";
