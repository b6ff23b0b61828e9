/** What a deployment is supplied with. Pure. */

import { formatObjectRef, type ObjectRef } from "../api/bundle-deployment.ts";
import type { DeploymentContent } from "../content/content.ts";

/** The Secrets and ConfigMaps of the workspace that a content names, in a stable order, once each. */
export function referencedObjectsOf({ access, copies = [] }: DeploymentContent): readonly string[] {
  const refs: readonly ObjectRef[] = [
    ...(access.secret === undefined ? [] : [{ kind: "Secret" as const, name: access.secret }]),
    ...copies,
  ];
  return [...new Set(refs.map(formatObjectRef))].toSorted();
}
