/** The CustomResourceDefinitions of rollouts. */
import { type CustomResourceDefinition, crdOf } from "../../fleet/crd/index.ts";
import { rolloutKinds } from "./kinds.ts";

/** All of them, in a fixed order. */
export function rolloutCrds(): readonly CustomResourceDefinition[] {
  return rolloutKinds.map(crdOf);
}
