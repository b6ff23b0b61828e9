/** Faults that are planted in the step of a staged rollout. Each breaks one rule, and the invariant of that rule has to find it. */
import { mutationsOfClusters } from "./cluster-mutations.ts";
import { mutationsOfGates } from "./gate-mutations.ts";
import { mutationsOfLimits } from "./limit-mutations.ts";
import type { Mutation } from "./plant.ts";

export const mutations: readonly Mutation[] = [
  ...mutationsOfLimits,
  ...mutationsOfGates,
  ...mutationsOfClusters,
];
