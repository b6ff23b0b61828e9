export { pageOf, releasePage } from "./links.ts";
export { sections } from "./sections.ts";
export { useParameter } from "./use-parameter.ts";
