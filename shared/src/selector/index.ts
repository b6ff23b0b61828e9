export { type ObjectSelector, objectSelector } from "./object-selector.ts";
