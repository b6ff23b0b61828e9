export type { Compiled, FrontEnd, Resolution } from "./front-end.ts";
export { frontEndReconciler } from "./reconcile.ts";
export type { FrontEndParts, RunningFrontEnd } from "./running.ts";
