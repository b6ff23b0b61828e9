export { allCrds, renderCrd } from "./crds.ts";
export { type KindDefinition, kinds } from "./kinds.ts";
