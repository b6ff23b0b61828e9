export { isMap, mergeValues, type Values } from "./merge-values.ts";
