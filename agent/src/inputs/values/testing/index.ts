export { templateText } from "./arbitraries.ts";
export { readTemplatesHere } from "./read-templates.ts";
export { rowClusterInfo, rowContext, styleRows, valuesRows } from "./rows.ts";
