/** A Schedule: the times at which clusters of its namespace may be changed. */
import * as z from "zod";
import type { KubeObject } from "../../kubernetes/objects/index.ts";
import { clusterCriteriaFields } from "./bundle-target.ts";
import { conditionsSchema } from "./condition.ts";
import {
  described,
  duration,
  fields,
  integer,
  plainFlag,
  type Typed,
  text,
  time,
} from "./field.ts";
import { maxListed } from "./summary.ts";

const scheduleTargetSchema = fields({
  name: text("A name for the entry."),
  ...clusterCriteriaFields,
});

const scheduleSpecSchema = fields({
  schedule: text(
    "When the window opens, as an expression with the fields second, minute, hour, day of month, month, day of week and, if wanted, year: `0 0 22 ? * MON-FRI`. Days of the week are 1 for Sunday to 7 for Saturday. `@yearly`, `@monthly`, `@weekly`, `@daily` and `@hourly` are known.",
  ),
  duration: described(
    duration.nullish(),
    "How long the window stays open, such as `4h`. It must close before it opens again.",
  ),
  location: text("The time zone of the expression, such as `Europe/Berlin`.", { absent: "`UTC`" }),
  targets: described(
    fields({
      clusters: described(
        z.array(scheduleTargetSchema).nullish(),
        "The clusters that are changed in the window only; each that one of the entries matches.",
      ),
    }).nullish(),
    "What the Schedule is for. Without entries it is for no cluster.",
  ),
});

const scheduleStatusSchema = fields({
  conditions: conditionsSchema,
  active: plainFlag("Whether the window is open."),
  nextStartTime: time("When the window opens next."),
  matchingClusters: described(
    z.array(z.string()).max(maxListed).nullish(),
    "The first of its clusters by name, at most ten.",
  ),
  clusterCount: integer("The number of its clusters."),
});

export type ScheduleSpec = Typed<typeof scheduleSpecSchema>;
export type ScheduleStatus = Typed<typeof scheduleStatusSchema>;

export interface Schedule extends KubeObject {
  readonly spec: ScheduleSpec;
  readonly status?: ScheduleStatus;
}

export const scheduleSchemas = {
  spec: scheduleSpecSchema,
  status: scheduleStatusSchema,
} as const;
