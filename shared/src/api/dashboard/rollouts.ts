/** The staged rollouts of an app, its stages and gates, and what a user may decide and command. */
import * as z from "zod";

const text = (description: string) => z.string().meta({ description });
const optional = (description: string) => z.string().meta({ description }).optional();
const count = (description: string) => z.int().meta({ description });

/** What people decide about a Gate. */
export const gateActionNames = ["approve", "reject", "pass", "fail"] as const;

/** What people command a BundleRollout to do. */
export const rolloutCommandNames = ["halt", "resume", "rollback", "cancel"] as const;

const rolloutActionNames = [...rolloutCommandNames, ...gateActionNames] as const;

const rolloutActionSchema = z
  .object({
    action: z.enum(rolloutActionNames),
    allowed: z.boolean(),
    reason: optional("Why it is not allowed."),
    effect: text("What it does, in numbers, for people."),
    command: text("The command that does the same."),
  })
  .meta({ title: "RolloutAction" });

const namedClustersSchema = z.object({
  count: count("How many."),
  first: z.array(z.string()).meta({ description: "The first ten, as `NAMESPACE/NAME`." }),
});

const decisionSchema = z.object({
  result: z.enum(["Passed", "Failed"]),
  by: text("Who decided; empty: the hub."),
  verified: z.boolean().meta({ description: "False: the API server has not checked that name." }),
  at: text("RFC 3339."),
  message: optional("Why."),
});

const gateSchema = z
  .object({
    name: text("Its name in the strategy."),
    when: z.enum(["Before", "After"]),
    type: z.enum(["Soak", "Test", "Window", "Approval", "External", "Lifecycle", "Rollout"]),
    result: z.enum(["Waiting", "Passed", "Failed"]).meta({
      description: "Waiting without `startedAt`: its turn has not come.",
    }),
    startedAt: optional("When it began to be waited for, RFC 3339."),
    expiresAt: optional("When it fails without a decision, RFC 3339."),
    soakingSince: optional("Since when nothing has interrupted the soak, RFC 3339."),
    decision: decisionSchema.optional(),
    gate: optional(
      "The Gate that is waited for; with this and what follows a decision is written.",
    ),
    uid: optional("Its UID."),
    digest: optional("What a decision names."),
    version: optional("The version that waits for it."),
    clusters: namedClustersSchema.optional().meta({
      description: "The clusters that get the revision once it is passed.",
    }),
    plan: z
      .object({
        groups: z.int(),
        changed: z.int(),
        unchanged: z.int(),
        failing: z.int(),
        offline: z.int(),
      })
      .optional()
      .meta({ description: "What would change, in numbers, where a plan is approved." }),
    config: z.record(z.string(), z.string()).optional().meta({
      description: "What the strategy says to who decides it, each text cut at 200 characters.",
    }),
    actions: z.array(rolloutActionSchema),
  })
  .meta({ title: "RolloutGate" });

const countFields = {
  total: count("The clusters."),
  done: count("Those that have the revision and are ready."),
  inFlight: count("Those that were promoted and are not done."),
  failed: count("Those that were promoted and have failed."),
  pending: count("Those that wait for their turn."),
  offline: count("Those that are not connected."),
  paused: count("Those that are paused or suspended."),
  skipped: count("Those that are passed over."),
  offSchedule: count("Those that wait for a window."),
};

/** A window that opens again and again, in the days around now. */
export const windowSchema = z
  .object({
    name: text("The Schedule, or the expression of a window of a stage."),
    schedule: z.boolean().meta({ description: "Whether it is a Schedule." }),
    deny: z.boolean().meta({ description: "Whether nothing is changed while it is open." }),
    expression: text("When it opens."),
    duration: text("For how long."),
    location: text("The time zone of the expression."),
    isOpen: z.boolean(),
    changesAt: optional("When it opens or closes next, RFC 3339."),
    problem: optional("What is wrong with it: it is never open."),
    clusters: namedClustersSchema.optional().meta({
      description: "The clusters of the Schedule.",
    }),
    spans: z
      .array(z.object({ from: z.string(), to: z.string() }))
      .meta({ description: "When it is open, from the day before until a week after, RFC 3339." }),
    isCut: z.boolean().meta({ description: "Whether it opens more often than `spans` has." }),
  })
  .meta({ title: "Window" });

const stageSchema = z
  .object({
    name: z.string(),
    phase: z.enum([
      "Pending",
      "Gated",
      "Progressing",
      "Soaking",
      "Verifying",
      "Completed",
      "Skipped",
      "Halted",
      "RolledBack",
    ]),
    ...countFields,
    startedAt: optional("RFC 3339."),
    completedAt: optional("RFC 3339."),
    gates: z.array(gateSchema),
    failing: z
      .array(z.object({ cluster: z.string(), message: z.string(), since: z.string() }))
      .meta({ description: "The first ten that have failed; `cluster` as `NAMESPACE/NAME`." }),
    missing: z
      .array(z.object({ cluster: z.string(), why: z.enum(["offline", "paused", "offSchedule"]) }))
      .meta({ description: "The first ten that it goes on without." }),
    windows: z
      .array(windowSchema)
      .meta({ description: "Where clusters wait for a window: the first ten of these windows." }),
  })
  .meta({ title: "RolloutStage" });

const rolloutPhases = z.enum([
  "Progressing",
  "Waiting",
  "Halted",
  "RollingBack",
  "RolledBack",
  "Completed",
  "Superseded",
  "Cancelled",
]);

const rolloutSchema = z
  .object({
    name: z.string(),
    uid: z.string(),
    number: z.int(),
    version: optional("The version of its chart; absent: the targets have several."),
    phase: rolloutPhases,
    reason: optional("One word for programs."),
    message: text("What it waits for, or why it was halted, as in its status; empty: nothing."),
    since: optional("Since when that is so, RFC 3339."),
    startedAt: optional("RFC 3339."),
    endedAt: optional("RFC 3339."),
    ...countFields,
    stages: z.array(stageSchema),
    next: z
      .object({ version: z.string().optional(), since: z.string() })
      .optional()
      .meta({ description: "The newest revision that waits for the end of this one." }),
    unassigned: namedClustersSchema.optional().meta({ description: "Clusters in no stage." }),
    kept: namedClustersSchema.optional().meta({
      description: "After a rollback: clusters that keep the revision.",
    }),
    actions: z.array(rolloutActionSchema),
  })
  .meta({ title: "Rollout" });

const rolloutRecordSchema = z
  .object({
    name: z.string(),
    number: z.int(),
    version: optional("The version of its chart."),
    phase: rolloutPhases,
    message: text("How it ended; empty: nothing is said about it."),
    startedAt: optional("RFC 3339."),
    endedAt: optional("RFC 3339."),
    done: z.int(),
    total: z.int(),
    decisions: z
      .array(decisionSchema.extend({ stage: z.string(), gate: z.string() }))
      .meta({ description: "The first twenty decisions of people and controllers." }),
  })
  .meta({ title: "RolloutRecord" });

export const rolloutsSchema = z
  .object({
    current: rolloutSchema.optional().meta({ description: "The newest one; absent: none." }),
    history: z
      .array(rolloutRecordSchema)
      .meta({ description: "The newest twenty, that one first." }),
  })
  .meta({ title: "Rollouts" });

export const rolloutActionRequestSchema = z
  .object({
    action: z.enum(rolloutActionNames),
    namespace: z.string(),
    rollout: text("The BundleRollout."),
    uid: text("Its UID."),
    gate: z
      .object({ name: z.string(), uid: z.string(), digest: z.string() })
      .optional()
      .meta({ description: "The Gate that a decision is about, as it was seen." }),
    message: z.string().max(512).optional().meta({ description: "Why a decision was made." }),
  })
  .meta({ title: "RolloutActionRequest" });

/** The rollout of an app, in the summary of the fleet. */
export const appRolloutSchema = z.object({
  phase: rolloutPhases,
  stage: optional("The stage that it is in."),
  message: text("What it waits for, or why it was halted."),
  since: optional("Since when, RFC 3339."),
  decides: z.boolean().meta({
    description: "Whether somebody has to decide: about a gate, or how a halted one goes on.",
  }),
});

/** The rollout of an app, where one of its clusters is shown. */
export const stagedReleaseSchema = z.object({
  number: z.int(),
  stage: optional("The stage of the cluster; absent: it is in none, or that is not known."),
  waits: optional("Why the cluster does not have the revision; absent: it does."),
});

export type GateActionName = (typeof gateActionNames)[number];
export type RolloutCommandName = (typeof rolloutCommandNames)[number];
export type RolloutActionName = (typeof rolloutActionNames)[number];
export type RolloutAction = Readonly<z.infer<typeof rolloutActionSchema>>;
export type RolloutActionRequest = Readonly<z.infer<typeof rolloutActionRequestSchema>>;
export type RolloutGate = Readonly<z.infer<typeof gateSchema>>;
export type RolloutStageView = Readonly<z.infer<typeof stageSchema>>;
export type Rollout = Readonly<z.infer<typeof rolloutSchema>>;
export type RolloutRecord = Readonly<z.infer<typeof rolloutRecordSchema>>;
export type AppRollout = Readonly<z.infer<typeof appRolloutSchema>>;
export type StagedRelease = Readonly<z.infer<typeof stagedReleaseSchema>>;
export type ShownWindow = Readonly<z.infer<typeof windowSchema>>;
