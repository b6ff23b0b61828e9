/** Names of objects as Policies list them. Pure. */
import type { MergedPolicy } from "./merge-policies.ts";

/** As a Policy lists it: the name alone means an object of the Policy's own namespace. */
export function nameFor(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  policy: Pick<MergedPolicy, "namespace">,
): string {
  return namespace === policy.namespace ? name : `${namespace}/${name}`;
}
