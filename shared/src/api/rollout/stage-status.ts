/** What a BundleRollout has stored about each stage: how many clusters are in which state, its gates, and what fails. */
import * as z from "zod";
import { described, fields, gateTypes, plainFlag, plainText, type Typed } from "../fleet/index.ts";
import { decisionResults, planSummaryFields } from "./gate.ts";
import {
  clusterName,
  digest,
  maxNamed,
  name,
  optionalTime,
  partName,
  stageName,
  timeOf,
  uid,
} from "./references.ts";

/** The length of a message about one cluster. */
export const maxFailureMessageLength = 200;

function count(description: string) {
  return described(z.int().min(0), description);
}

/**
 * A cluster is in exactly one of these states; `total` is their sum. `brokenBefore` is counted in addition.
 * Each count of the whole rollout is the sum of its stages' counts, but for `total`, which has the clusters in no stage as well.
 */
const rolloutCountsFields = {
  total: count("The number of target clusters."),
  done: count("The number that have the revision and are ready, with their tests where these run."),
  inFlight: count("The number that were promoted and are not done."),
  failed: count(
    "The number that were promoted and have failed for good, or are in flight for longer than `progressDeadline`.",
  ),
  pending: count("The number that wait for their turn."),
  offline: count("The number that are not connected and not promoted."),
  paused: count("The number that are paused or suspended, and not promoted."),
  skipped: count("The number that are in `spec.skip`, or whose stage is in `spec.skipStages`."),
  offSchedule: count("The number that are not promoted because a Schedule or a window is closed."),
  brokenBefore: count(
    "The number, of whatever state, that were not ready before; they count neither as unavailable nor as failures.",
  ),
} as const;

export const rolloutCountsSchema = fields(rolloutCountsFields, "RolloutCounts");

/** How many clusters are in which state. */
export type RolloutCounts = Typed<typeof rolloutCountsSchema>;

/**
 * Phases of a stage.
 * - Pending: a stage before it is not completed.
 * - Gated: it waits for the gates before it.
 * - Progressing: clusters are promoted, or wait for their turn.
 * - Soaking: nothing is pending or in flight; a soak runs. The stage takes no new members until it has passed.
 * - Verifying: the same, with other gates after the stage.
 * - Completed: members that come later are still promoted, under its limits.
 * - Skipped: by `spec.skipStages`, or empty with `allowEmpty`.
 * - Halted: it has failed, and is why the rollout was halted or taken back.
 */
const stagePhases = [
  "Pending",
  "Gated",
  "Progressing",
  "Soaking",
  "Verifying",
  "Completed",
  "Skipped",
  "Halted",
  "RolledBack",
] as const;

export type StagePhase = (typeof stagePhases)[number];

/** Results of a gate. */
const gateResults = ["Waiting", "Passed", "Failed"] as const;

const storedDecisionSchema = fields({
  result: described(z.enum(decisionResults), "The decision."),
  by: described(z.string().max(1024), "Who decided; empty: the hub."),
  verified: plainFlag(
    "Whether the API server has checked that name: false where the ValidatingAdmissionPolicy is not installed.",
  ),
  at: timeOf("When the hub stored it, RFC 3339."),
  digest: digest("What it is about."),
  message: plainText("Why: as it was written in the Gate, or by the hub."),
});

/** A decision as it is stored before anything follows from it. */
export type StoredDecision = Typed<typeof storedDecisionSchema>;

/** The limit of `diffs`: what one approval can be about. */
export const maxApprovedDiffs = 250;

const planRecordSchema = fields({
  ...planSummaryFields,
  number: described(
    z.int().min(1),
    "Counts the plans of the gate: the first is of the stage, each later one of the clusters whose changes were not approved until then.",
  ),
  diffs: described(
    z.array(z.string().max(32)).max(maxApprovedDiffs),
    "What is approved: the digests of all diffs, the first 12 bytes of each in base64url, sorted. A cluster is promoted only if nothing would change in it, or its diff is one of an approved plan.",
  ),
});

const gateRecordSchema = fields({
  name: described(partName, "The name of the gate in the strategy."),
  when: described(z.enum(["Before", "After"]), "Before or after the stage."),
  type: described(z.enum(Object.values(gateTypes)), "What it waits for."),
  result: described(z.enum(gateResults), "The result; `Passed` and `Failed` are final."),
  reason: plainText(
    "Why it ended: `Decided`, by a person or a controller; `Expired`; `Unverified`, by a name that the API server has not checked; `Met`, by what the hub has seen; or `Obsolete`: no cluster waits for the changes that it asks about.",
  ),
  attempt: described(
    z.int().min(2).optional(),
    "How often it was asked for, with this time: after a halt that was resumed, a gate that has failed is asked for again. Absent: once.",
  ),
  gate: described(name, "The name of the Gate."),
  uid: described(
    uid.optional(),
    "Its UID; absent: it is still to be created. A Gate of that name with another UID is not this one.",
  ),
  digest: digest("What a decision must name, as in the Gate."),
  startedAt: timeOf("When it began to be waited for."),
  expiresAt: optionalTime(
    "When it fails without a decision; absent: never. A Gate that is created again gets the same.",
  ),
  soakingSince: optionalTime(
    "Since when all members have been done without interruption; absent while they are not, and for a gate that is not a soak.",
  ),
  plan: described(
    planRecordSchema.optional(),
    "What the agents have answered when asked for a plan; absent: the gate does not approve a plan.",
  ),
  decision: described(storedDecisionSchema.optional(), "The decision; absent while it waits."),
});

/** What is stored of a gate. */
export type GateRecord = Typed<typeof gateRecordSchema>;

const failingSchema = fields({
  cluster: described(clusterName, "The cluster, as `namespace/name`."),
  message: described(
    z.string().max(maxFailureMessageLength),
    "Why it is not ready, cut at 200 characters.",
  ),
  since: timeOf("Since when."),
});

/** A cluster that has failed. */
export type FailingCluster = Typed<typeof failingSchema>;

export const stageStatusSchema = fields(
  {
    name: described(stageName, "The name of the stage."),
    phase: described(z.enum(stagePhases), "Its phase."),
    ...rolloutCountsFields,
    startedAt: optionalTime("When it began: with its gates, or with its first cluster."),
    completedAt: optionalTime("When it was completed."),
    acceptedFailures: described(
      z.int().min(0).optional(),
      "How many clusters had failed when a person resumed the rollout: these do not count against `maxFailures` again.",
    ),
    gates: described(
      z.array(gateRecordSchema).max(32).optional(),
      "Its gates that were started, those before it first; an approval of a plan is there again for each plan.",
    ),
    failing: described(
      z.array(failingSchema).max(maxNamed).optional(),
      "The first clusters that have failed, by name, at most ten.",
    ),
  },
  "StageStatus",
);

/** What is stored of a stage. */
export type StageStatus = Typed<typeof stageStatusSchema>;
