export { canonicalJson, isRawNumber, parseExact, rawNumber } from "./exact.ts";
