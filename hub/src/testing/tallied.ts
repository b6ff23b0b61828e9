/** Deployments as the status of a Bundle sees them: counted and summarized. */
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import { keyOf } from "@flotilla/shared/kube/object.ts";
import { clusterKeyOf } from "../deploy/deployment-cluster.ts";
import { summarize } from "../rollup/summarize.ts";
import { type BundleTally, createTallies } from "../rollup/tally.ts";
import type { HelmOpInputs } from "../status/helm-op-status.ts";
import { workspace } from "./objects.ts";

/** What the status of a HelmOp is told from; of archives and objects nothing was heard. */
export type Tallied = Pick<
  HelmOpInputs,
  "summary" | "archives" | "resources" | "perClusterResourceCounts"
> & { readonly tally: BundleTally };

/** All of them must be of the Bundle `web`. */
export function tallied(deployments: readonly BundleDeployment[], pending = 0): Tallied {
  const tallies = createTallies();
  for (const deployment of deployments) tallies.change(undefined, deployment);
  const tally = tallies.ofBundle(`${workspace}/web`);
  const lookUp = (key: string) => deployments.find((deployment) => keyOf(deployment) === key);
  return {
    tally,
    summary: summarize({ tally, pending, lookUp, nameOf: clusterKeyOf }),
    archives: new Map(),
    resources: [],
    perClusterResourceCounts: {},
  };
}
