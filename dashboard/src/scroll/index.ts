export { scrollRegion } from "./scroll-region.ts";
