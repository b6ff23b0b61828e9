/**
 * A BundleRollout: one revision of one Bundle on its way through the stages. The leader creates it with all that it pins, and
 * signs that; people write `state`, `skip`, `skipStages` and `resume`. The status is the only state of the engine: whatever it decides
 * by is stored here before anything follows from it.
 */
import * as z from "zod";
import type { KubeObject } from "../../kubernetes/objects/index.ts";
import {
  clusterCriteriaFields,
  conditionsSchema,
  described,
  failureActions,
  fields,
  flag,
  integer,
  list,
  maxStages,
  plainText,
  rolledOutText,
  rolloutPhases,
  type Typed,
  text,
} from "../fleet/index.ts";
import {
  appSchema,
  clusterListSchema,
  clusterName,
  digest,
  objectWithUid,
  optionalTime,
  partName,
  stageName,
  timeOf,
} from "./references.ts";
import { rolloutCountsSchema, stageStatusSchema } from "./stage-status.ts";

/** The limit of `spec.skip`. */
const maxSkipped = 500;
/** The limit of `spec.targets`; their size is limited by the hub, to 256 KiB. */
const maxTargets = 1000;

/** What a person can ask for. */
const rolloutStates = ["Running", "Halted", "RolledBack", "Cancelled"] as const;

const releaseTests = ["None", "Ignored", "Required"] as const;

/** What the tests of a release mean for its rollout. */
export type ReleaseTests = (typeof releaseTests)[number];

const criteriaSchema = fields({ name: text("Its name."), ...clusterCriteriaFields });

const pinnedTargetSchema = fields({
  name: text("The target's name."),
  ...clusterCriteriaFields,
  doNotDeploy: flag("Clusters that it matches get nothing."),
  deploymentID: described(
    z.string().max(256).optional(),
    "The content for the clusters that it matches: `sha256:` and its digest. Absent: none, with `doNotDeploy`.",
  ),
  referencedObjects: list(
    "The Secrets and ConfigMaps that the content refers to, as in `spec.referencedObjects` of a BundleDeployment.",
  ),
  tests: described(
    z.enum(releaseTests).optional(),
    "The tests of the release: `None` run; `Required`: clusters are done once they have passed; `Ignored`: a failure counts for gates alone. Absent: the hub that pinned it was older, and what the Bundle says now counts.",
  ),
});

/** A target of the revision: its criteria and its content. */
export type PinnedTarget = Typed<typeof pinnedTargetSchema>;

const bundleRolloutSpecSchema = fields({
  bundle: described(objectWithUid("Bundle"), "The Bundle that is rolled out."),
  app: described(appSchema, "The app that the Bundle was made for; for a Bundle by hand, itself."),
  number: described(
    z.int().min(1),
    "Counts the rollouts of the Bundle; the highest is the newest. The name ends in it.",
  ),
  revision: digest("The revision: a digest over the contents of all targets."),
  version: plainText("The version of its chart; absent: the targets have several."),
  targets: described(
    z.array(pinnedTargetSchema).max(maxTargets),
    "The criteria and contents of all targets, in order, so that a cluster that joins gets this revision and not a later one.",
  ),
  targetRestrictions: described(
    z.array(criteriaSchema).max(maxTargets).optional(),
    "The clusters that the targets may reach; absent: all.",
  ),
  targetCustomizationMode: described(
    z.enum(["FirstMatch"]).optional(),
    "As in `spec.targetCustomizationMode` of the Bundle.",
  ),
  signature: described(
    z.string().max(128),
    "The hub's HMAC over its namespace, its name and all fields above. A BundleRollout without a valid one is not rolled out: what was pinned is never changed, and a rule of the API server for lists of this size would cost too much.",
  ),
  state: described(
    z.enum(rolloutStates).optional(),
    "Written by people. `Halted`: nothing is promoted until it is `Running` again. `RolledBack`: clusters get back what they had. `Cancelled`: it ends, and clusters keep what they have; a newer revision starts.",
    { "x-default-text": "`Running`" },
  ),
  skip: described(
    z.array(clusterName).max(maxSkipped).optional(),
    "Written by people: clusters that are not promoted, as `namespace/name`.",
  ),
  skipStages: described(
    z.array(stageName).max(maxStages).optional(),
    "Written by people: stages that are passed over with their gates; their clusters are not promoted.",
  ),
  resume: described(
    z.string().max(64).optional(),
    "Written by people: any new value, such as the time, goes on after a halt by failures or by a gate. Clusters that have failed until then are accepted, and their deadlines begin again.",
  ),
});

const nextSchema = fields({
  revision: digest("The revision."),
  version: plainText("The version of its chart."),
  since: timeOf("Since when it waits."),
});

const breachSchema = fields({
  stage: described(stageName, "The stage."),
  cause: described(
    z.enum(["Failures", "GateFailed", "GateExpired", "GateUnverified", "NothingReady"]),
    "`Failures`: more clusters have failed than `maxFailures`. `GateFailed`, `GateExpired`: `gate` was failed, or nobody decided in time. `GateUnverified`: it was approved, and the API server has not checked by whom. `NothingReady`: no cluster of the stage is ready, and none is missing.",
  ),
  action: described(z.enum(failureActions), "What follows from it: `onFailure` at that time."),
  at: timeOf("When it was observed. Nothing is promoted from then on, until it is resumed."),
  failed: described(z.int().min(0), "How many clusters of the stage had failed."),
  maxFailures: described(z.int().min(0), "How many were allowed."),
  gate: described(partName.optional(), "The gate that has failed, by its name in the strategy."),
  decision: described(
    z.string().max(512).optional(),
    "For people: who failed the gate, and why. Absent where the hub did.",
  ),
});

/** Why a rollout halts or goes back. It is stored before anything follows from it. */
export type Breach = Typed<typeof breachSchema>;

/** Why a rollout is in its phase, for programs. `GateWaiting` to `Paused` are the reasons of the phase Waiting. */
const rolloutReasons = [
  "Promoting",
  "GateWaiting",
  "WindowClosed",
  "Soaking",
  "ClustersMissing",
  "DependencyNotReady",
  "LimitReached",
  "StageEmpty",
  "Paused",
  "TooManyFailures",
  "GateFailed",
  "GateExpired",
  "GateUnverified",
  "NothingReady",
  "Requested",
  "StableRequested",
  "NewerRevision",
  "AllStagesCompleted",
] as const;

export type RolloutReason = (typeof rolloutReasons)[number];

const bundleRolloutStatusSchema = fields({
  observedGeneration: integer("The `metadata.generation` that the status is for."),
  phase: described(z.enum(rolloutPhases), "The phase."),
  reason: described(
    z.enum(rolloutReasons).optional(),
    "Why it is in this phase. `Promoting`: clusters are promoted or in flight. Waiting: `GateWaiting`, `WindowClosed`, `Soaking`, `ClustersMissing` (offline or paused ones, below `minSuccess`), `DependencyNotReady`, `LimitReached` (unavailable clusters use up `maxUnavailable`), `StageEmpty`, `Paused` (the Bundle is; while it is rolling back, also `spec.state: Halted`). Halted, RollingBack, RolledBack: `TooManyFailures`, `GateFailed`, `GateExpired`, `GateUnverified`, `NothingReady`, `Requested` (`spec.state`), `StableRequested` (the desired revision is the stable one). Superseded: `NewerRevision`. Cancelled: `Requested`. Completed: `AllStagesCompleted`; `GateWaiting`, while clusters that came late wait for the approval of what would change in them.",
  ),
  message: plainText("For people: what it waits for, or why it was halted, in one sentence."),
  since: optionalTime(
    "Since when that is so: it changes with phase, reason or stage, not with numbers.",
  ),
  stage: described(stageName.optional(), "The first stage that is not completed; absent: all are."),
  startedAt: optionalTime("When it started."),
  endedAt: optionalTime(
    "When it was first completed, taken back, superseded or cancelled; absent while it is not.",
  ),
  stable: described(
    z.string().max(128).optional(),
    "The revision before, which is known to be good: going back to it needs no gates. Absent: there was none.",
  ),
  next: described(
    nextSchema.optional(),
    "The newest revision that waits for the end of this rollout; absent: none does.",
  ),
  breach: described(
    breachSchema.optional(),
    "Why it was halted or is taken back, other than by `spec.state`; absent: nothing has failed, or it was resumed.",
  ),
  handledResume: described(
    z.string().max(64).optional(),
    "The value of `spec.resume` that was handled last.",
  ),
  resumedAt: optionalTime("When that was. Deadlines of clusters in flight begin again then."),
  clusters: described(
    rolloutCountsSchema.optional(),
    "The target clusters by state. Those in `unassigned` are in `total` and in no other count.",
  ),
  stages: described(
    z.array(stageStatusSchema).max(maxStages).optional(),
    "The stages, in the order of the strategy; where it has none, one for all clusters, named `all`.",
  ),
  unassigned: described(
    clusterListSchema.optional(),
    "Target clusters that are in no stage: they keep what they have.",
  ),
  kept: described(
    clusterListSchema.optional(),
    "After a rollback: clusters that keep the revision, because they had nothing before.",
  ),
  display: described(
    fields({ done: plainText("How many of its clusters are done, as in `88/500`.") }).optional(),
    "For `kubectl get` and the dashboard.",
  ),
  conditions: described(conditionsSchema, rolledOutText),
});

/** What is rolled out, as it is pinned, and what people ask for. */
export type BundleRolloutSpec = Typed<typeof bundleRolloutSpecSchema>;
/** How far it is. */
export type BundleRolloutStatus = Typed<typeof bundleRolloutStatusSchema>;

export interface BundleRollout extends KubeObject {
  readonly spec: BundleRolloutSpec;
  /** Absent: it was created, and no step was made yet. */
  readonly status?: BundleRolloutStatus;
}

export const bundleRolloutSchemas = {
  spec: bundleRolloutSpecSchema,
  status: bundleRolloutStatusSchema,
} as const;
