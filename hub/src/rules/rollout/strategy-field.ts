/** Where the author of an app has written what its strategy says. Pure. */
import type { Bundle } from "@flotilla/shared/api";
import { rolloutPolicyAnnotation } from "@flotilla/shared/api/names";
import type { KubeObject } from "@flotilla/shared/kube/objects";

/** A field of the strategy of a Bundle: in its own spec, or in the RolloutPolicy that it names. */
export function strategyField({ spec }: Pick<Bundle, "spec">, field: string): string {
  const { policy } = spec.rolloutStrategy ?? {};
  return policy ? `spec.${field} of the RolloutPolicy ${policy}` : `spec.rolloutStrategy.${field}`;
}

/** Where an app names its RolloutPolicy. `owner`: the object that its Bundle was made for; undefined: it is the Bundle itself. */
export function policyField(policy: string, owner: KubeObject | undefined): string {
  const isAnnotated =
    owner?.metadata.annotations?.[rolloutPolicyAnnotation] === policy && !hasStrategy(owner);
  return isAnnotated ? `the annotation ${rolloutPolicyAnnotation}` : "spec.rolloutStrategy.policy";
}

/** Then the annotation is not read. */
function hasStrategy(owner: KubeObject): boolean {
  const spec = "spec" in owner ? owner.spec : undefined;
  return typeof spec === "object" && spec !== null && "rolloutStrategy" in spec;
}
