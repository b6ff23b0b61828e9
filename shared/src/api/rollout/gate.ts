/**
 * A Gate: one thing that a rollout waits for. The leader creates it with its whole spec, which nobody changes. Who may decide writes
 * `status.decision`, once; the leader writes the conditions. A decision counts only in a Gate with the UID that the status of the
 * BundleRollout has, with the digest of the spec, and before `expiresAt` there.
 */
import * as z from "zod";
import type { KubeObject } from "../../kubernetes/objects/index.ts";
import {
  conditionsSchema,
  described,
  fields,
  gateTypes,
  integer,
  plainText,
  type Typed,
} from "../fleet/index.ts";
import { gateSpecRules } from "./gate-rules.ts";
import {
  appSchema,
  clusterListSchema,
  digest,
  objectWithUid,
  optionalTime,
  partName,
  stageName,
} from "./references.ts";

/** What a decision can say. */
export const decisionResults = ["Passed", "Failed"] as const;

export const planSummaryFields = {
  groups: described(z.int().min(0), "The number of different diffs."),
  changed: described(z.int().min(0), "The number of clusters in which something would change."),
  unchanged: described(z.int().min(0), "The number of clusters in which nothing would."),
  failing: described(z.int().min(0), "The number of clusters in which the upgrade would fail."),
  offline: described(
    z.int().min(0),
    "The number of clusters that could not be asked; each is planned before it is promoted.",
  ),
} as const;

const planSummarySchema = fields(planSummaryFields);

const gateSpecSchema = fields({
  type: described(
    z.enum(Object.values(gateTypes)),
    "What it waits for. People and controllers decide gates of the types `Approval` and `External`; the hub decides all others.",
  ),
  app: described(appSchema, "The app that is rolled out."),
  rollout: described(objectWithUid("BundleRollout"), "The rollout that waits."),
  stage: described(stageName, "The stage of the rollout."),
  gate: described(partName, "The name of the gate in the strategy."),
  when: described(
    z.enum(["Before", "After"]),
    "Whether it is passed before the first cluster of the stage is promoted, or after the last one.",
  ),
  revision: digest("The revision that is rolled out."),
  version: plainText("The version of its chart; absent: the targets have several."),
  digest: digest(
    "What a decision must name: the digest of the plan, or of revision, stage and gate. A decision for something else than what was seen is rejected.",
  ),
  clusters: described(clusterListSchema, "The clusters that get the revision once it is passed."),
  plan: described(planSummarySchema.optional(), "What would change, where a plan is approved."),
  config: described(
    z.record(z.string().max(253), z.string().max(4096)).optional(),
    "The texts of `config` of the gate in the strategy.",
    { maxProperties: 64 },
  ),
  expiresAt: optionalTime(
    "A decision after this time does not count: the gate has failed. Absent: there is no limit.",
  ),
}).meta({ "x-kubernetes-validations": gateSpecRules });

const gateDecisionSchema = fields(
  {
    result: described(z.enum(decisionResults), "The decision."),
    by: described(
      z.string().min(1).max(1024),
      "Who decided: the name of the user that writes it, as `kubectl auth whoami` shows it. The API server rejects any other.",
    ),
    digest: digest("`spec.digest` of the Gate: what was decided about."),
    message: described(
      z.string().max(512).optional(),
      "For people: why, or the number of a ticket.",
    ),
  },
  "GateDecision",
);

/** A decision of a person or a controller, as it is written into a Gate. It is never changed. */
export type GateDecision = Typed<typeof gateDecisionSchema>;

const gateStatusSchema = fields({
  decision: described(
    gateDecisionSchema.optional(),
    "The decision, written once by somebody with the right to update `gates/status`; for an approval also with the right `update gates/approve`. Absent: there is none yet, or the hub decides.",
  ),
  conditions: described(
    conditionsSchema,
    "`Passed`: Unknown while it waits. The reason says how it ended: `Approved`, `Rejected`, `Passed`, `Failed`, `Expired`, `Unverified`, `Superseded`. Written by the hub, after it has stored the result in the BundleRollout.",
  ),
  observedGeneration: integer("The `metadata.generation` that the conditions are for."),
});

/** What a Gate is about. */
export type GateSpec = Typed<typeof gateSpecSchema>;
/** What a plan would change, in numbers. */
export type PlanSummary = Typed<typeof planSummarySchema>;

export interface Gate extends KubeObject {
  readonly spec: GateSpec;
  readonly status?: Typed<typeof gateStatusSchema>;
}

export const gateSchemas = { spec: gateSpecSchema, status: gateStatusSchema } as const;
