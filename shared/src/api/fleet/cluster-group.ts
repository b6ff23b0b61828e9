/** A ClusterGroup: a name for the clusters of its namespace that a selector matches. */
import * as z from "zod";
import type { KubeObject } from "../../kubernetes/objects/index.ts";
import { conditionsSchema } from "./condition.ts";
import { described, fields, integer, plainText, type Typed } from "./field.ts";
import { selector } from "./label-selector.ts";
import { bundleSummarySchema, maxListed, resourceCountsSchema } from "./summary.ts";

const clusterGroupSpecSchema = fields({
  selector: selector(
    "Labels of the clusters that belong to the group. Without a selector it has no members.",
  ),
});

const clusterGroupStatusSchema = fields({
  conditions: conditionsSchema,
  clusterCount: integer("The number of its clusters."),
  nonReadyClusterCount: integer(
    "The number of clusters that are not ready: their agent is offline, or a deployment is not ready.",
  ),
  nonReadyClusters: described(
    z.array(z.string()).max(maxListed).nullish(),
    "The first clusters by name that are not ready, at most ten.",
  ),
  offlineClusterCount: integer("The number of clusters whose agent is offline."),
  summary: described(bundleSummarySchema.optional(), "Their deployments by state."),
  resourceCounts: described(
    resourceCountsSchema.optional(),
    "The objects deployed to them by state.",
  ),
  display: described(
    fields({
      readyClusters: plainText("How many of its clusters are ready, as in `3/5`."),
      readyBundles: plainText("How many of their deployments are ready, as in `3/5`."),
      state: plainText("The state that needs attention most; empty when all are ready."),
    }).optional(),
    "For `kubectl get` and the dashboard.",
  ),
});

export type ClusterGroupSpec = Typed<typeof clusterGroupSpecSchema>;
export type ClusterGroupStatus = Typed<typeof clusterGroupStatusSchema>;

export interface ClusterGroup extends KubeObject {
  readonly spec: ClusterGroupSpec;
  readonly status?: ClusterGroupStatus;
}

export const clusterGroupSchemas = {
  spec: clusterGroupSpecSchema,
  status: clusterGroupStatusSchema,
} as const;
