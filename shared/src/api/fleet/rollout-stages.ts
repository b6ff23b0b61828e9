/**
 * Stages of a rollout: groups of clusters that get a change one after the other, and what is waited for before and after each. The
 * fields of one stage, its gates and its windows; `rollout-strategy.ts` has the fields of the whole.
 */
import * as z from "zod";
import { appKinds } from "./apps/index.ts";
import { clusterCriteriaFields } from "./bundle-target.ts";
import { countOrShare, described, fields, flag, type Typed, text } from "./field.ts";

/** The limit of `stages`. */
export const maxStages = 16;
/** The limit of `before` and of `after` of one stage. */
export const maxGates = 4;
/** The limit of `windows` of one stage. */
export const maxWindows = 8;
/** The limit of the texts in `config` of a gate, keys and values together, in bytes. */
export const maxGateConfigBytes = 4096;

const maxObjectNameLength = 253;

/** What happens when more clusters fail than `maxFailures`. */
export const failureActions = ["Halt", "Rollback", "Continue"] as const;

export type FailureAction = (typeof failureActions)[number];

/**
 * A Go duration by its form, so that no rule in CEL is needed: in lists of lists its cost exceeds the budget of the API server.
 * Longer ones than Go has are refused by the hub.
 */
const plainDuration = z
  .string()
  .max(32)
  .regex(/^(0|([0-9]+([.][0-9]+)?(ns|us|µs|ms|s|m|h))+)$/);

/** A duration; an absent one has the meaning `absent`. */
export function rolloutDuration(description: string, absent: string) {
  return described(plainDuration.optional(), description, { "x-default-text": absent });
}

const sharePattern = /^([0-9]{1,7}|[0-9]{1,3}([.][0-9]{1,6})?%)$/;

/** A count, or a share such as `10%`, that is 0 or more. */
export function boundedCount(description: string, absent: string) {
  return described(
    z.union([z.int().min(0), z.string().regex(sharePattern)]).optional(),
    description,
    {
      "x-kubernetes-int-or-string": true,
      pattern: sharePattern.source,
      "x-kubernetes-validations": [
        {
          rule: "type(self) != int || self >= 0",
          message: "must be 0 or more, or a share such as 10%",
        },
      ],
      "x-default-text": absent,
    },
  );
}

const objectName = z.string().min(1).max(maxObjectNameLength);

/** The name of a stage or a gate: it becomes a part of the names of Gates. */
function partName(description: string) {
  return described(
    z
      .string()
      .max(40)
      .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/),
    description,
  );
}

const gateConfig = described(
  z.record(z.string().max(253), z.string().max(maxGateConfigBytes)).optional(),
  "Texts for those who decide, up to 4 KiB with their names; they are in the Gate.",
  { maxProperties: 64 },
);

/** Each kind of gate by the field that a user sets, with its type in a Gate. */
export const gateTypes = {
  soak: "Soak",
  test: "Test",
  window: "Window",
  approval: "Approval",
  external: "External",
  lifecycle: "Lifecycle",
  rollout: "Rollout",
} as const;

/** The type of a gate, as `spec.type` of its Gate has it. */
export type GateType = (typeof gateTypes)[keyof typeof gateTypes];

const soak = fields({
  for: described(plainDuration, "For how long, without interruption."),
});

const approval = fields({
  plan: flag(
    "What is approved is a plan: the changes that the agents would make. A plan without any change passes by itself.",
  ),
  verify: flag(
    "With `plan`: each agent plans once more right before Helm runs, and refuses with PLAN_STALE where something else would change than was approved. Nothing is changed in that cluster then: the hub takes the promotion back, plans the cluster again, and asks for what nobody has approved.",
  ),
  validFor: rolloutDuration(
    "How long the approval of a plan holds for clusters that have not been promoted yet.",
    "`168h`",
  ),
});

const stageGateSchema = fields(
  {
    name: partName("The name of the gate, unique within the stage, as in `change-board`."),
    timeout: rolloutDuration(
      "How long a decision is waited for; without one in this time the gate has failed.",
      "`24h`; no limit for `soak` and `window`",
    ),
    soak: described(
      soak.optional(),
      "Passes when all members of the stage are done, without more failures than allowed, for some time without interruption.",
    ),
    test: described(
      fields({}).optional(),
      "Passes when the tests of the chart have succeeded in all members that are done. Rejected where `test.enable` is not set.",
    ),
    window: described(
      fields({
        schedule: described(objectName, "The name of a Schedule of the namespace."),
      }).optional(),
      "Passes when the Schedule is open once. For limits that hold during all of a stage see `windows`.",
    ),
    approval: described(
      approval.optional(),
      "Passes when somebody with the right `update gates/approve` approves it.",
    ),
    external: described(
      fields({ config: gateConfig }).optional(),
      "Passes when somebody with the right to update `gates/status` says so: a CI job, a controller, a person.",
    ),
    lifecycle: described(
      fields({
        name: described(objectName, "The name of the Lifecycle."),
        config: gateConfig,
      }).optional(),
      "Passes when the LifecycleEvent that the hub makes for it is completed.",
    ),
    rollout: described(
      fields({
        kind: described(z.enum(appKinds), "The app's kind."),
        name: described(objectName, "The app's name, in the same namespace."),
        stage: text("A stage of it.", { absent: "all stages" }),
      }).optional(),
      "Passes when the rollout of another app has completed this stage.",
    ),
  },
  "StageGate",
).meta({
  "x-kubernetes-validations": [
    {
      rule: "[has(self.soak), has(self.test), has(self.window), has(self.approval), has(self.external), has(self.lifecycle), has(self.rollout)].exists_one(isSet, isSet)",
      message:
        "a gate has exactly one of soak, test, window, approval, external, lifecycle and rollout",
    },
  ],
});

/** A gate of a stage, as users write it. Exactly one of the fields in `gateTypes` is set. */
export type StageGate = Typed<typeof stageGateSchema>;

const stageWindowSchema = fields(
  {
    schedule: described(objectName.optional(), "The name of a Schedule of the namespace."),
    cron: described(
      z.string().min(1).max(256).optional(),
      "When it opens: an expression as in a Schedule, with seconds first, such as `0 0 22 * * ?`.",
    ),
    duration: described(plainDuration.optional(), "How long it is open each time; with `cron`."),
    location: described(
      z.string().max(64).optional(),
      "The time zone of `cron`, such as `Europe/Berlin`.",
      { "x-default-text": "`UTC`" },
    ),
    deny: flag("Nothing is promoted while it is open, whatever other windows say."),
  },
  "StageWindow",
).meta({
  "x-kubernetes-validations": [
    {
      rule: "has(self.schedule) != has(self.cron)",
      message: "a window has exactly one of schedule and cron",
    },
    {
      rule: "has(self.cron) == has(self.duration)",
      message: "a window with cron needs a duration, and one with a schedule has the Schedule's",
    },
    {
      rule: "has(self.cron) || !has(self.location)",
      message: "the time zone of a window with a schedule is the Schedule's: leave location out",
    },
  ],
});

/** A time in which a stage may promote clusters, or, with `deny`, may not. Exactly one of `schedule` and `cron` is set. */
export type StageWindow = Typed<typeof stageWindowSchema>;

const differentNames = "gates of a stage have different names, before and after it";

const gatesText = "all of them must pass, and all are started together.";

const rolloutStageSchema = fields(
  {
    name: partName("The name of the stage, unique within the strategy, as in `canary`."),
    ...clusterCriteriaFields,
    upTo: boundedCount(
      "The number or share of the matching clusters that earlier stages have left, which the stage takes, rounded up and at least 1; what is left falls to the next stage that matches. They are taken by `spreadBy`, then by name.",
      "all",
    ),
    spreadBy: text(
      "The name of a label of clusters: with `upTo`, clusters are taken in turn from its values.",
    ),
    maxUnavailable: countOrShare(
      "The number or share of clusters of the stage that may be unavailable at once, and of those that are in flight: promoted and not done. At least 1; first installations count.",
      { absent: "`maxUnavailable` of the strategy" },
    ),
    maxFailures: boundedCount(
      "The number or share of clusters of the stage that may fail, rounded down; one more leads to `onFailure`.",
      "`maxFailures` of the strategy",
    ),
    onFailure: described(
      z.enum(failureActions).optional(),
      "What happens when more clusters fail, or a gate does.",
      { "x-default-text": "`onFailure` of the strategy" },
    ),
    progressDeadline: rolloutDuration(
      "A cluster that is in flight for longer counts as failed.",
      "`progressDeadline` of the strategy",
    ),
    minSuccess: described(
      z.int().min(0).optional(),
      "The number of clusters that must be done before the stage is completed: a stage whose clusters are all offline proves nothing.",
      { "x-default-text": "1" },
    ),
    allowEmpty: flag(
      "Go on when no cluster is in the stage. Else the rollout waits, because mostly a label is misspelt; the last stage may always be empty.",
    ),
    windows: described(
      z.array(stageWindowSchema).max(maxWindows).optional(),
      "When clusters of the stage may be promoted: while one of the windows is open and none with `deny` is. What is in flight when it closes ends by itself.",
      { "x-default-text": "always" },
    ),
    before: described(
      z.array(stageGateSchema).max(maxGates).optional(),
      `Gates before the first cluster of the stage is promoted: ${gatesText}`,
    ),
    after: described(
      z.array(stageGateSchema).max(maxGates).optional(),
      `Gates after the last one, before the stage is completed: ${gatesText}`,
    ),
  },
  "RolloutStage",
).meta({
  "x-kubernetes-validations": [
    {
      rule: "!has(self.before) || self.before.all(gate, self.before.exists_one(other, other.name == gate.name) && !(has(self.after) && self.after.exists(other, other.name == gate.name)))",
      message: differentNames,
    },
    {
      rule: "!has(self.after) || self.after.all(gate, self.after.exists_one(other, other.name == gate.name))",
      message: differentNames,
    },
  ],
});

/**
 * A stage of a strategy, as users write it. A cluster belongs to the first stage whose criteria match it; without criteria a stage takes
 * all that are left.
 */
export type RolloutStage = Typed<typeof rolloutStageSchema>;

/** The stages of a strategy. A missing list means that there are no stages; it is never null. */
export const stagesSchema = z.array(rolloutStageSchema).min(1).max(maxStages);
