export { rolloutCrds } from "./crds.ts";
export { rolloutKinds } from "./kinds.ts";
