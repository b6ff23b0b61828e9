export { listNames } from "./list-names.ts";
export { nearest } from "./nearest.ts";
