/** Deployments as the status of a Bundle sees them: counted and summarized. */
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import type { BundleSummary } from "@flotilla/shared/api/summary.ts";
import { keyOf } from "@flotilla/shared/kube/object.ts";
import { clusterKeyOf } from "../deploy/deployment-cluster.ts";
import { summarize } from "../rollup/summarize.ts";
import { type BundleTally, createTallies } from "../rollup/tally.ts";
import { workspace } from "./objects.ts";

export interface Tallied {
  readonly tally: BundleTally;
  readonly summary: BundleSummary;
}

/** All of them must be of the Bundle `web`. */
export function tallied(deployments: readonly BundleDeployment[], pending = 0): Tallied {
  const tallies = createTallies();
  for (const deployment of deployments) tallies.change(undefined, deployment);
  const tally = tallies.ofBundle(`${workspace}/web`);
  const lookUp = (key: string) => deployments.find((deployment) => keyOf(deployment) === key);
  return { tally, summary: summarize({ tally, pending, lookUp, nameOf: clusterKeyOf }) };
}
