/** What a deployment is supplied with. Pure. */
import type { DeploymentContent } from "../content/content.ts";
import { type SupplyRef, supplyKey } from "./supply.ts";

/** The Secrets and ConfigMaps of the workspace that a content names, in a stable order, once each. */
export function suppliesOf({ access, copies = [] }: DeploymentContent): readonly string[] {
  const refs: readonly SupplyRef[] = [
    ...(access.secret === undefined ? [] : [{ kind: "Secret" as const, name: access.secret }]),
    ...copies,
  ];
  return [...new Set(refs.map(supplyKey))].toSorted();
}
