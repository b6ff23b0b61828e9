/** From a Bundle's targets to the BundleDeployments that are to be made, changed and deleted. Pure. */

import { isDeepStrictEqual } from "node:util";
import type { Bundle } from "@flotilla/shared/api/bundle.ts";
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import {
  bundleDeploymentFinalizer,
  clusterLabel,
  clusterNamespaceLabel,
  clusterUidLabel,
  managedLabel,
} from "@flotilla/shared/api/names.ts";
import { apiVersion } from "@flotilla/shared/api/resources.ts";
import { bundleLabels } from "./bundle-labels.ts";
import { isForCluster } from "./deployment-cluster.ts";

/** A cluster that the Bundle goes to, and the content that it is to run. */
export interface Placement {
  readonly cluster: Cluster;
  /** The cluster's own namespace on the hub, whether it is there yet or not. */
  readonly namespace: string;
  readonly deploymentId: string;
  /** What that content is supplied with, as in `BundleDeployment.spec.supplies`. */
  readonly supplies: readonly string[];
}

export interface DeploymentPlan {
  readonly create: readonly BundleDeployment[];
  readonly replace: readonly BundleDeployment[];
  readonly remove: readonly BundleDeployment[];
  /** Names that wait for an earlier deployment of the same name to be gone. */
  readonly waiting: number;
}

/** `existing`: every BundleDeployment that was made for this Bundle, those on their way out included. */
export function planDeployments(
  bundle: Bundle,
  placements: readonly Placement[],
  existing: readonly BundleDeployment[],
): DeploymentPlan {
  const byNamespace = new Map(
    existing.map((deployment) => [deployment.metadata.namespace, deployment]),
  );
  const create: BundleDeployment[] = [];
  const replace: BundleDeployment[] = [];
  const outlived: BundleDeployment[] = [];
  let waiting = 0;

  for (const placement of placements) {
    const current = byNamespace.get(placement.namespace);
    byNamespace.delete(placement.namespace);
    if (current === undefined) {
      // Without its namespace it comes later. One that is there stays, even when a restored Cluster has no status.
      if (placement.cluster.status?.namespace !== undefined)
        create.push(newDeployment(bundle, placement));
    } else if (current.metadata.deletionTimestamp !== undefined) waiting += 1;
    else if (!isForCluster(current, placement.cluster.metadata.uid)) {
      outlived.push(current);
      waiting += 1;
    } else {
      const wanted = updated(current, bundle, placement);
      if (wanted !== current) replace.push(wanted);
    }
  }
  const remove = [...outlived, ...byNamespace.values()].filter(
    (deployment) => deployment.metadata.deletionTimestamp === undefined,
  );
  return { create, replace, remove, waiting };
}

function newDeployment(bundle: Bundle, placement: Placement): BundleDeployment {
  return {
    apiVersion,
    kind: "BundleDeployment",
    metadata: {
      name: bundle.metadata.name,
      namespace: placement.namespace,
      labels: labelsFor(bundle, placement.cluster),
      finalizers: [bundleDeploymentFinalizer],
    },
    spec: specFor(bundle, placement),
  };
}

function updated(
  current: BundleDeployment,
  bundle: Bundle,
  placement: Placement,
): BundleDeployment {
  const labels = labelsFor(bundle, placement.cluster);
  const spec = specFor(bundle, placement, current.spec);
  if (isDeepStrictEqual(current.spec, spec) && isDeepStrictEqual(current.metadata.labels, labels))
    return current;
  return { ...current, metadata: { ...current.metadata, labels }, spec };
}

/** A paused Bundle or cluster is still staged, and nothing is promoted. */
function specFor(
  bundle: Bundle,
  placement: Placement,
  current?: BundleDeployment["spec"],
): BundleDeployment["spec"] {
  const paused = bundle.spec.paused === true || placement.cluster.spec.paused === true;
  const promoted = paused ? (current?.deploymentID ?? "") : placement.deploymentId;
  // What still runs goes on needing what it was supplied with.
  const outgoing = promoted === placement.deploymentId ? [] : (current?.supplies ?? []);
  const supplies = [...new Set([...placement.supplies, ...outgoing])].toSorted();
  return {
    deploymentID: promoted,
    stagedDeploymentID: placement.deploymentId,
    ...(paused && { paused: true }),
    ...(supplies.length > 0 && { supplies }),
  };
}

function labelsFor(bundle: Bundle, cluster: Cluster): Record<string, string> {
  return {
    ...bundleLabels(bundle),
    [managedLabel]: "true",
    [clusterLabel]: cluster.metadata.name,
    [clusterNamespaceLabel]: cluster.metadata.namespace ?? "",
    ...(cluster.metadata.uid !== undefined && { [clusterUidLabel]: cluster.metadata.uid }),
  };
}
