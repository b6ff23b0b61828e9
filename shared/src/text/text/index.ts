export { cutText } from "./cut-text.ts";
export { listNames } from "./list-names.ts";
export { nearest } from "./nearest.ts";
export { oneLine } from "./one-line.ts";
