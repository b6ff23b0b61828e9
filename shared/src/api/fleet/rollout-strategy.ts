/** The steps in which a change is rolled out to the clusters. */
import * as z from "zod";
import { clusterCriteriaFields } from "./bundle-target.ts";
import { countOrShare, described, fields, text } from "./field.ts";

const partition = fields({
  name: text("A name for the partition."),
  maxUnavailable: countOrShare(
    "The number or share of clusters of the partition that may be unavailable at once.",
    {
      absent: "`maxUnavailable` of the strategy",
    },
  ),
  ...clusterCriteriaFields,
});

export const rolloutStrategySchema = fields(
  {
    maxUnavailable: countOrShare(
      "The number or share of clusters that may be unavailable at once.",
      { absent: "`100%`" },
    ),
    maxUnavailablePartitions: countOrShare(
      "The number or share of partitions that may be unavailable before the rollout stops.",
      { absent: "0" },
    ),
    autoPartitionSize: countOrShare("The size of partitions when none are listed.", {
      absent: "`25%`",
    }),
    autoPartitionThreshold: described(
      z.int().nullish(),
      "The number of clusters from which on they are split into partitions when none are listed.",
      { "x-default-text": "200" },
    ),
    maxNew: described(
      z.int().nullish(),
      "The number of clusters that get the Bundle for the first time in one step.",
      { "x-default-text": "50" },
    ),
    partitions: described(
      z.array(partition).nullish(),
      "Groups of clusters that are updated one after the other. A cluster that is in none of them is not deployed to, and is reported.",
    ),
  },
  "RolloutStrategy",
);
