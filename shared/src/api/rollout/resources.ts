/** Kinds of rollouts in the API: in a group of our own, because Fleet does not have them. */
import type { Resource } from "../../kubernetes/objects/index.ts";
import type { BundleRollout } from "./bundle-rollout.ts";
import type { Gate } from "./gate.ts";
import type { RolloutPolicy } from "./rollout-policy.ts";

export const rolloutApiVersion = "flotilla.dev/v1alpha1";

const home = { group: "flotilla.dev", version: "v1alpha1", namespaced: true } as const;

export const bundleRollouts: Resource<BundleRollout> = {
  ...home,
  kind: "BundleRollout",
  plural: "bundlerollouts",
};
export const gates: Resource<Gate> = { ...home, kind: "Gate", plural: "gates" };
export const rolloutPolicies: Resource<RolloutPolicy> = {
  ...home,
  kind: "RolloutPolicy",
  plural: "rolloutpolicies",
};
