export { parseBounded } from "./bounded.ts";
export { canonicalJson, isRawNumber, parseExact, rawNumber } from "./exact.ts";
