/** A RolloutPolicy: a strategy for many apps of its namespace, which name it. Written by users. */
import type { KubeObject } from "../../kubernetes/objects/index.ts";
import { fields, rolloutPolicyFields, rolloutStrategyRules, type Typed } from "../fleet/index.ts";

const rolloutPolicySpecSchema = fields(rolloutPolicyFields).meta({
  "x-kubernetes-validations": rolloutStrategyRules,
});

export interface RolloutPolicy extends KubeObject {
  readonly spec: Typed<typeof rolloutPolicySpecSchema>;
}

/** It has no status: what is wrong with it is said by the apps that name it. */
export const rolloutPolicySchemas = { spec: rolloutPolicySpecSchema } as const;
