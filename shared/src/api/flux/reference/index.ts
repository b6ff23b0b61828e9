export { fluxReference } from "./flux-reference.ts";
