export { offsetIn, withOffset } from "./kept-offset.ts";
export { scrollRegion } from "./scroll-region.ts";
