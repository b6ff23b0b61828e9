/** The CustomResourceDefinitions of Flux's kinds. */
import { type CustomResourceDefinition, crdOf } from "../../fleet/crd/index.ts";
import { fluxKinds } from "./kinds.ts";

/** All of them, in a fixed order. */
export function fluxCrds(): readonly CustomResourceDefinition[] {
  return fluxKinds.map(crdOf);
}
