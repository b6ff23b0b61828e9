/** Targets of a Bundle: criteria that match clusters, and the options for them. */
import * as z from "zod";
import { bundleDeploymentOptionsFields } from "./bundle-deployment-options.ts";
import { fields, flag, type Typed, text } from "./field.ts";
import { selector } from "./label-selector.ts";

/** Criteria for a cluster. All that are set must match; without any, nothing matches. */
export const clusterCriteriaFields = {
  clusterName: text("The cluster's name, or the name that Rancher shows for it."),
  clusterSelector: selector("Labels of the cluster. `{}` matches every cluster."),
  clusterGroup: text("The name of a ClusterGroup that the cluster belongs to."),
  clusterGroupSelector: selector("Labels of a ClusterGroup that the cluster belongs to."),
} as const;

export const bundleTargetSchema = fields(
  {
    name: text("A name for the target, for people.", {
      absent: "`target000`, `target001` and so on",
    }),
    ...clusterCriteriaFields,
    doNotDeploy: flag(
      "Deploy nothing to clusters that this target matches, even if a later target matches them.",
    ),
    ...bundleDeploymentOptionsFields,
  },
  "BundleTarget",
);

export type BundleTarget = Typed<typeof bundleTargetSchema>;

/** An entry of the list that restricts the clusters of a Bundle. */
export const targetRestrictionSchema = fields({
  name: text("A name for the entry."),
  ...clusterCriteriaFields,
});

export const targetsSchema = z.array(bundleTargetSchema).nullish();
