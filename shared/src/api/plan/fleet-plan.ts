/** A plan of many clusters, as the hub answers it and stores it beside a Gate: groups of clusters in which the same would change. */
import * as z from "zod";
import { maxPlanLineBytes, maxPlanTextBytes } from "./plan-result.ts";

/** Names of clusters that a plan lists of each group. */
export const maxPlanNames = 10;
/** Groups that a plan lists. */
export const maxPlanGroups = 50;

const count = z.int().min(0);
const clustersSchema = z.object({
  count,
  /** The first by name, as `namespace/name`. */
  first: z.array(z.string()).max(maxPlanNames),
});

const groupSchema = z.object({
  result: z.enum(["changes", "install", "fails"]),
  /** What happens to objects in the cluster whose text this is. */
  counts: z.object({ create: count, update: count, replace: count, delete: count }),
  clusters: clustersSchema,
  /** How many different diffs it has: more than 1 where diffs of one shape are shown as one. */
  diffs: z.int().min(1),
  /** As in the answer of an agent. */
  remarks: z.array(z.string()),
  hooks: count,
  failures: count,
  code: z.string().optional(),
  message: z.string().max(maxPlanLineBytes).optional(),
  /** Unified diffs of one of its clusters; absent: none was to be had, or all texts together are too long. */
  text: z.string().max(maxPlanTextBytes).optional(),
});

/** Why the plan of a cluster is not known; it never stands for "no change". */
const unknownReasons = ["Offline", "Outdated", "Unplannable", "Failed"] as const;

export const fleetPlanSchema = z.object({
  /** The target clusters that the plan is about. */
  total: count,
  /** The largest first, at most `maxPlanGroups`. */
  groups: z.array(groupSchema).max(maxPlanGroups),
  /** Groups that are not listed, and their clusters. */
  others: z.object({ groups: count, clusters: count }),
  unchanged: clustersSchema,
  unknown: z.array(
    z.object({ reason: z.enum(unknownReasons), message: z.string(), clusters: clustersSchema }),
  ),
  /** Clusters that were not asked, because as many that are expected to be equal were. */
  notAsked: count,
});

export type FleetPlan = z.infer<typeof fleetPlanSchema>;
/** A group of a plan. */
export type FleetPlanGroup = FleetPlan["groups"][number];
