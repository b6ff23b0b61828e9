/** A rollout as it is shown elsewhere: in the status of an app and of its Bundle, and on each BundleDeployment that it promoted. */
import * as z from "zod";
import { described, fields, plainFlag, plainText, type Typed } from "./field.ts";

/**
 * Phases of a rollout.
 * - Progressing: clusters are promoted, or are in flight.
 * - Waiting: nothing is in flight, and nothing can be promoted; `reason` and `message` say what is waited for.
 * - Halted: it has failed, or a person has halted it. Nothing is promoted.
 * - RollingBack: clusters get back what they had.
 * - RolledBack: they have. Ended.
 * - Completed: all stages are. Ended, but clusters that come later are still promoted.
 * - Superseded: another revision was started instead. Ended.
 * - Cancelled: a person has ended it; clusters keep what they have. Ended.
 */
export const rolloutPhases = [
  "Progressing",
  "Waiting",
  "Halted",
  "RollingBack",
  "RolledBack",
  "Completed",
  "Superseded",
  "Cancelled",
] as const;

/** The type of the condition of a rollout, on apps, Bundles and BundleRollouts. */
export const rolledOutCondition = "RolledOut";

export const rolledOutText =
  "`RolledOut`: whether the staged rollout is completed; Unknown while it is in progress or waits, False when it was halted or taken back. Present only where there is one.";

export const rolloutSummaryText =
  "The staged rollout that is in progress, or the last one; absent: the strategy has no stages and no `maxFailures` or `onFailure`.";

/** `status.rollout` of a HelmOp, a HelmRelease and a Bundle. */
export const rolloutSummarySchema = fields(
  {
    name: described(z.string(), "The BundleRollout."),
    phase: described(z.enum(rolloutPhases), "Its phase."),
    stage: plainText("The stage that it is in; absent: all are completed."),
    done: described(z.int(), "The number of clusters that have the revision and are ready."),
    total: described(z.int(), "The number of target clusters."),
    message: plainText("For people: what it waits for, or why it was halted."),
    since: plainText("Since when, RFC 3339."),
  },
  "RolloutSummary",
);

export type RolloutSummary = Typed<typeof rolloutSummarySchema>;

/** `spec.promotion` of a BundleDeployment. */
export const promotionSchema = fields({
  rollout: described(z.string().max(253), "The BundleRollout that promoted `deploymentID`."),
  at: described(
    z.string().max(32),
    "When, RFC 3339 with milliseconds; later, when it went on after a window had held it. From then on `progressDeadline` runs.",
  ),
  from: described(
    z.string().max(256),
    "The content that the cluster had before, which a rollback gives back to it; empty: it had none. It is kept as long as it is named here.",
  ),
  wasReady: plainFlag(
    "False: the cluster was not ready before, so it counts neither as unavailable nor as a failure.",
  ),
  planned: described(
    z.string().max(64).optional(),
    "The digest of what was approved to change in the cluster, where the stage has `approval.verify`: the agent refuses anything else. `install`: a first installation, of new objects alone. `none`: nothing would change.",
  ),
  refused: described(
    z.int().optional(),
    "How often the agent has refused what this rollout promoted, because something else would have changed than was approved. With `planned` it was promoted again since; without, the promotion was taken back, and `from` is what was refused.",
  ),
  // One writer writes all of it, and thousands of clusters have one: managedFields do not list its fields.
}).meta({ "x-kubernetes-map-type": "atomic" });

/** By which staged rollout a cluster was promoted, when, and from what. */
export type Promotion = Typed<typeof promotionSchema>;
