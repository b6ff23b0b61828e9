export { isMap, mergeValues, type Values } from "./merge-values.ts";
export { type SetValueOptions, type SetValueResult, setValue } from "./set-value.ts";
