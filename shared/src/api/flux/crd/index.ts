export { fluxCrds } from "./crds.ts";
export { fluxKinds } from "./kinds.ts";
