export { templateText } from "./arbitraries.ts";
export { rowClusterInfo, rowContext, styleRows, valuesRows } from "./rows.ts";
