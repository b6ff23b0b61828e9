export { templateText } from "./arbitraries.ts";
export { rowContext, rowFacts, styleRows, valuesRows } from "./rows.ts";
