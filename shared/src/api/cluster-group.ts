/** A ClusterGroup: the clusters of its namespace that a selector matches, under one name. */
import { z } from "zod";
import type { KubeObject } from "../kube/objects/object.ts";
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
  clusterCount: integer("How many clusters belong to it."),
  nonReadyClusterCount: integer(
    "How many of them are not ready: their agent is not connected, or what they run is not ready.",
  ),
  nonReadyClusters: described(
    z.array(z.string()).max(maxListed).nullish(),
    "The first of them by name that are not ready, at most ten.",
  ),
  offlineClusterCount: integer("How many of them have no agent connected."),
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
