/** Where a Bundle goes: criteria that a cluster is matched by, and the options that it gets there. */
import { z } from "zod";
import { bundleDeploymentOptionsFields } from "./bundle-deployment-options.ts";
import { fields, flag, type Typed, text } from "./field.ts";
import { selector } from "./label-selector.ts";

/** What is asked of a cluster. All that is given must hold; nothing given matches nothing. */
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
      "A cluster that this target matches gets nothing, whatever matches it further down.",
    ),
    ...bundleDeploymentOptionsFields,
  },
  "BundleTarget",
);

export type BundleTarget = Typed<typeof bundleTargetSchema>;

/** An entry of the list that says where a Bundle may go at all. */
export const targetRestrictionSchema = fields({
  name: text("A name for the entry."),
  ...clusterCriteriaFields,
});

export const targetsSchema = z.array(bundleTargetSchema).nullish();
