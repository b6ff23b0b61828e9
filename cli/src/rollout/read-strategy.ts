/** The rollout strategy of an app, as the API server has it. */
import { bundles, type RolloutStrategy } from "@flotilla/shared/api";
import { rolloutPolicies } from "@flotilla/shared/api/rollout";
import type { KubeRest } from "@flotilla/shared/kube/client";
import type { ObjectRef } from "@flotilla/shared/kube/objects";

/** The strategy itself, or what the RolloutPolicy that it names has. */
export async function resolveStrategy(
  rest: Pick<KubeRest, "get">,
  namespace: string,
  strategy: RolloutStrategy | undefined,
): Promise<RolloutStrategy | undefined> {
  if (!strategy?.policy) return strategy;
  const policy = await rest.get(rolloutPolicies, { namespace, name: strategy.policy });
  return policy?.spec ?? strategy;
}

/** The strategy of a Bundle; undefined: there is no Bundle, or it has none. */
export async function readStrategy(
  rest: Pick<KubeRest, "get">,
  ref: ObjectRef,
): Promise<RolloutStrategy | undefined> {
  const bundle = await rest.get(bundles, ref);
  return await resolveStrategy(
    rest,
    ref.namespace ?? "",
    bundle?.spec.rolloutStrategy ?? undefined,
  );
}
