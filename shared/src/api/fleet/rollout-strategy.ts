/**
 * How a change is rolled out to the clusters: Fleet's fields, and a superset with stages. A strategy with `stages`, `maxFailures` or
 * `onFailure` gets a BundleRollout for each change; any other costs nothing.
 */
import * as z from "zod";
import { clusterCriteriaFields } from "./bundle-target.ts";
import { countOrShare, described, fields, flag, type Typed, text } from "./field.ts";
import { boundedCount, failureActions, rolloutDuration, stagesSchema } from "./rollout-stages.ts";
import { rolloutStrategyRules } from "./validation-rules.ts";

const partition = fields({
  name: text("A name for the partition."),
  maxUnavailable: countOrShare(
    "The number or share of clusters of the partition that may be unavailable at once.",
    {
      absent: "`maxUnavailable` of the strategy",
    },
  ),
  ...clusterCriteriaFields,
});

/** Fleet's fields. */
const fleetFields = {
  maxUnavailable: countOrShare("The number or share of clusters that may be unavailable at once.", {
    absent: "`100%`",
  }),
  maxUnavailablePartitions: countOrShare(
    "The number or share of partitions that may be unavailable before the rollout stops.",
    { absent: "0" },
  ),
  autoPartitionSize: countOrShare("The size of partitions when none are listed.", {
    absent: "`25%`",
  }),
  autoPartitionThreshold: described(
    z.int().nullish(),
    "The number of clusters from which on they are split into partitions when none are listed.",
    { "x-default-text": "200" },
  ),
  maxNew: described(
    z.int().nullish(),
    "The number of clusters that may be in their first installation at one time.",
    { "x-default-text": "no limit" },
  ),
  partitions: described(
    z.array(partition).nullish(),
    "Groups of clusters that are updated one after the other. A cluster that is in none of them is not deployed to, and is reported.",
  ),
} as const;

/** What happens with a revision that comes while another one is rolled out. */
const newRevisionActions = ["Wait", "Restart"] as const;

const rollbackSchema = fields({
  maxUnavailable: countOrShare(
    "The number or share of clusters of a stage that may be unavailable at once while the rollout is taken back.",
    { absent: "as in the stages" },
  ),
  respectWindows: flag("Take clusters back only while the windows of their stages are open."),
});

/** The fields beyond Fleet's, without `policy`. */
const stagedFields = {
  stages: described(
    stagesSchema.optional(),
    "Stages, in order, instead of partitions: each begins when the one before is completed. A cluster belongs to the first that matches it; the last one should match all that are left.",
  ),
  maxFailures: boundedCount(
    "The number or share of clusters of each stage that may fail, rounded down; one more leads to `onFailure`.",
    "no limit; with stages 0",
  ),
  onFailure: described(
    z.enum(failureActions).optional(),
    "What happens when more clusters fail, or a gate does. `Halt`: nothing is promoted until somebody decides, or another revision comes. `Rollback`: clusters get back what they had. `Continue`: it is only reported.",
    { "x-default-text": "`Halt`" },
  ),
  progressDeadline: rolloutDuration(
    "A cluster that is in flight for longer, which is promoted and not done, counts as failed.",
    "`15m`",
  ),
  onNewRevision: described(
    z.enum(newRevisionActions).optional(),
    "What happens with a revision that comes while another one is rolled out. `Wait`: the newest one waits until this rollout ends or halts. `Restart`: the rollout starts over with it.",
    { "x-default-text": "`Wait` with stages, else `Restart`" },
  ),
  rollback: described(rollbackSchema.optional(), "How a rollout is taken back: without gates."),
  historyLimit: described(
    z.int().min(0).max(100).optional(),
    "The number of ended BundleRollouts that are kept.",
    { "x-default-text": "5" },
  ),
} as const;

/** The fields of a RolloutPolicy: all but `policy`. */
export const rolloutPolicyFields = { ...fleetFields, ...stagedFields } as const;

export const rolloutStrategySchema = fields(
  {
    ...rolloutPolicyFields,
    policy: text(
      "The name of a RolloutPolicy of the namespace that has the strategy; nothing else may be set beside it.",
    ),
  },
  "RolloutStrategy",
).meta({
  "x-kubernetes-validations": [
    ...rolloutStrategyRules,
    {
      rule: `!has(self.policy) || self.policy == '' || ![${Object.keys(rolloutPolicyFields)
        .map((name) => `has(self.${name})`)
        .join(", ")}].exists(isSet, isSet)`,
      message: "a strategy with a policy is the RolloutPolicy's: set nothing else beside policy",
    },
  ],
});

/** The strategy of an app, as users write it. */
export type RolloutStrategy = Typed<typeof rolloutStrategySchema>;
