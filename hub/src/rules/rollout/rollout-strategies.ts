/** The rollout strategy of a Bundle: its own, or the one of the RolloutPolicy which it names. The one place that resolves the name. */
import type { Bundle, RolloutStrategy } from "@flotilla/shared/api";
import type { RolloutPolicy } from "@flotilla/shared/api/rollout";
import type { Store } from "@flotilla/shared/kube/cache";
import { type KubeObject, keyOf } from "@flotilla/shared/kube/objects";
import type { ReleaseSpec } from "../frontend/planned-release.ts";
import { stagesProblem } from "./stages-problem.ts";
import { policyField } from "./strategy-field.ts";
import { strategyProblem } from "./strategy-problem.ts";

type Named = Pick<Bundle, "metadata" | "spec">;

export interface RolloutStrategies {
  /** As it is, without a judgement; undefined: there is none, or the RolloutPolicy does not exist. */
  strategyOf(bundle: Named): RolloutStrategy | undefined;
  /**
   * Why the RolloutPolicy that a Bundle names cannot be used for it, as a sentence with its name and field; undefined: it can, or the
   * Bundle names none. What is wrong with a strategy of the Bundle itself is said where its author's object is validated. `owner`: the
   * object that it was made for, which may name the RolloutPolicy with an annotation.
   */
  problemOf(bundle: Named, release: ReleaseSpec, owner?: KubeObject): string | undefined;
}

export function createRolloutStrategies(
  policies: Pick<Store<RolloutPolicy>, "get">,
): RolloutStrategies {
  function policyOf({ metadata, spec }: Named): RolloutPolicy | undefined {
    const { namespace = "" } = metadata;
    const found = policies.get(keyOf({ namespace, name: spec.rolloutStrategy?.policy ?? "" }));
    return found?.metadata.deletionTimestamp === undefined ? found : undefined;
  }

  return {
    strategyOf(bundle) {
      const { rolloutStrategy } = bundle.spec;
      return rolloutStrategy?.policy ? policyOf(bundle)?.spec : (rolloutStrategy ?? undefined);
    },
    problemOf(bundle, release, owner) {
      const { rolloutStrategy } = bundle.spec;
      const name = rolloutStrategy?.policy;
      if (!name) return undefined;
      const policy = policyOf(bundle);
      if (policy === undefined)
        return `there is no RolloutPolicy ${name} in namespace ${bundle.metadata.namespace}: create it, or change ${policyField(name, owner)}; until then nothing changes`;
      const problem =
        strategyProblem(policy.spec, "spec") ??
        stagesProblem({ ...release, rolloutStrategy: policy.spec }, "spec");
      return problem === undefined
        ? undefined
        : `the RolloutPolicy ${name} cannot be used: ${problem}; until then nothing changes`;
    },
  };
}
