export { type Leaf, leavesOf } from "./leaves.ts";
export { isMap, mergeValues, type Values } from "./merge-values.ts";
export { pathsInLine, setValue, setValues } from "./set-value.ts";
