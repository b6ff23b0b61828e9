export { pageOf, releasePage } from "./links.ts";
export { useParameter } from "./use-parameter.ts";
