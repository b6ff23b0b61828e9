/** The deployment that a request is about. Pure, of the caches. */

import type { Bundle, BundleDeployment, Cluster } from "@flotilla/shared/api";
import { isMadeFor } from "@flotilla/shared/api/apps";
import { bundleNameOf } from "@flotilla/shared/api/names";
import { AppError } from "@flotilla/shared/errors";
import type { Store } from "@flotilla/shared/kube/cache";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/objects";
import { listNames } from "@flotilla/shared/text";
import { byBundle, clusterKeyOf, hubErrors, isForCluster } from "../../base/index.ts";
import type { UserRequest } from "./parse-request.ts";

export interface FindDeps {
  readonly bundles: Pick<Store<Bundle>, "get">;
  readonly deployments: Pick<Store<BundleDeployment>, "byIndex">;
  readonly clusters: Pick<Store<Cluster>, "get">;
}

export interface FoundDeployment {
  readonly bundle: Bundle;
  readonly deployment: BundleDeployment;
  readonly cluster: Cluster;
  readonly clusterKey: ObjectKey;
}

/** Throws REQUEST_TARGET_NOT_FOUND and REQUEST_NEEDS_CLUSTER. */
export function findDeployment(
  { bundles, deployments, clusters }: FindDeps,
  { workspace, kind, name, cluster: wanted }: UserRequest,
): FoundDeployment {
  const key = keyOf({ namespace: workspace, name });
  const bundleKey = keyOf({ namespace: workspace, name: bundleNameOf(kind, name) });
  const bundle = bundles.get(bundleKey);
  if (bundle === undefined || !isMadeFor(bundle.metadata.labels, kind, name))
    throw notFound(`${kind} ${key} has no deployments`);
  const found = deployments.byIndex(byBundle, bundleKey).flatMap((deployment) => {
    const clusterKey = clusterKeyOf(deployment);
    const cluster = clusters.get(clusterKey);
    return cluster !== undefined && isForCluster(deployment, cluster.metadata.uid)
      ? [{ bundle, deployment, cluster, clusterKey }]
      : [];
  });
  if (wanted !== undefined) {
    const wantedKey = wanted.includes("/") ? wanted : `${workspace}/${wanted}`;
    const one = found.find(({ clusterKey }) => clusterKey === wantedKey);
    if (one === undefined)
      throw notFound(`${kind} ${key} is not deployed to Cluster ${wantedKey}${listed(found)}`);
    return one;
  }
  const [one, ...others] = found;
  if (one === undefined) throw notFound(`${kind} ${key} is deployed to no Cluster`);
  if (others.length === 0) return one;
  throw new AppError(
    hubErrors.REQUEST_NEEDS_CLUSTER,
    `${kind} ${key} is deployed to ${found.length} Clusters; choose one with --cluster${listed(found)}`,
  );
}

function listed(found: readonly FoundDeployment[]): string {
  if (found.length === 0) return "";
  return `: ${listNames(found.map(({ clusterKey }) => clusterKey).toSorted())}`;
}

function notFound(message: string): AppError {
  return new AppError(hubErrors.REQUEST_TARGET_NOT_FOUND, message);
}
