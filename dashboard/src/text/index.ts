export { compareTexts } from "./compare-texts.ts";
export { matchesText } from "./matches-text.ts";
