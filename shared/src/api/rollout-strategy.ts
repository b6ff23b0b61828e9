/** In which steps a change goes through the clusters. */
import { z } from "zod";
import { clusterCriteriaFields } from "./bundle-target.ts";
import { countOrShare, described, fields, text } from "./field.ts";

const partition = fields({
  name: text("A name for the partition."),
  maxUnavailable: countOrShare("How many clusters of the partition may be unavailable at once.", {
    absent: "`maxUnavailable` of the strategy",
  }),
  ...clusterCriteriaFields,
});

export const rolloutStrategySchema = fields(
  {
    maxUnavailable: countOrShare(
      "How many clusters may be unavailable at once, as a number or a share.",
      { absent: "`100%`" },
    ),
    maxUnavailablePartitions: countOrShare(
      "How many partitions may be unavailable before the rollout stops.",
      { absent: "0" },
    ),
    autoPartitionSize: countOrShare("How large partitions are where none are listed.", {
      absent: "`25%`",
    }),
    autoPartitionThreshold: described(
      z.int().nullish(),
      "From how many clusters on they are split into partitions where none are listed.",
      { "x-default-text": "200" },
    ),
    maxNew: described(
      z.int().nullish(),
      "How many clusters get the Bundle for the first time in one step.",
      { "x-default-text": "50" },
    ),
    partitions: described(
      z.array(partition).nullish(),
      "Groups of clusters that are gone through one after the other. A cluster that none of them takes is not deployed to, and is reported.",
    ),
  },
  "RolloutStrategy",
);
