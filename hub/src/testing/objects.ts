/** Complete objects with the given fields. */

import {
  apiVersion,
  type Bundle,
  type BundleDeployment,
  type Cluster,
  type HelmOp,
  type Policy,
} from "@flotilla/shared/api";
import {
  bundleDeploymentFinalizer,
  bundleNameLabel,
  bundleNamespaceLabel,
  clusterLabel,
  clusterNamespaceLabel,
  clusterNamespaceName,
  helmOpLabel,
} from "@flotilla/shared/api/names";
import type { KubeObject, ObjectMeta } from "@flotilla/shared/kube/objects";
import type { DownloadPin } from "@flotilla/shared/source";
import { type PlannedRelease, releaseOfHelmOp } from "../rules/frontend/planned-release.ts";

/** The workspace of all of them. */
export const workspace = "fleet-default";

/** The `now` of statuses. */
export const now = "2026-01-01T00:00:00.000Z";

export const digestA = `sha256:${"a".repeat(64)}`;
export const digestB = `sha256:${"b".repeat(64)}`;

export function httpPin(version: string, digest: string | null = digestA): DownloadPin {
  return {
    kind: "http",
    version,
    url: `https://charts.example.com/web-${version}.tgz`,
    ...(digest !== null && { digest }),
  };
}

export function aHelmOp(
  spec: HelmOp["spec"] = {},
  metadata: Partial<ObjectMeta> = {},
  status?: HelmOp["status"],
): HelmOp {
  return {
    apiVersion,
    kind: "HelmOp",
    metadata: { name: "web", namespace: workspace, uid: "uid-web", generation: 1, ...metadata },
    spec: {
      helm: { repo: "https://charts.example.com", chart: "web", version: "~1.2" },
      ...spec,
    },
    ...(status !== undefined && { status }),
  };
}

/** What a HelmOp asks for. */
export function aRelease(
  spec: HelmOp["spec"] = {},
  metadata: Partial<ObjectMeta> = {},
): PlannedRelease {
  return releaseOfHelmOp(aHelmOp(spec, metadata));
}

export function aBundle(
  spec: Bundle["spec"] = {},
  metadata: Partial<ObjectMeta> = {},
  status?: Bundle["status"],
): Bundle {
  return {
    apiVersion,
    kind: "Bundle",
    metadata: {
      name: "web",
      namespace: workspace,
      uid: "uid-bundle",
      generation: 1,
      labels: { [helmOpLabel]: "web" },
      ...metadata,
    },
    spec,
    ...(status !== undefined && { status }),
  };
}

/** A Cluster that has its namespace, unless another status is given. */
export function aCluster(
  name: string,
  {
    metadata = {},
    spec = {},
    status = { namespace: clusterNamespaceName(workspace, name) },
  }: {
    readonly metadata?: Partial<ObjectMeta>;
    readonly spec?: Cluster["spec"];
    readonly status?: NonNullable<Cluster["status"]>;
  } = {},
): Cluster {
  return {
    apiVersion,
    kind: "Cluster",
    metadata: { name, namespace: workspace, generation: 1, ...metadata },
    spec,
    status,
  };
}

/** The deployment of the Bundle `web` in this cluster. */
export function aDeployment(
  cluster: string,
  {
    metadata = {},
    spec = {},
    status,
    bundle = "web",
  }: {
    readonly metadata?: Partial<ObjectMeta>;
    readonly spec?: Partial<BundleDeployment["spec"]>;
    readonly status?: BundleDeployment["status"];
    readonly bundle?: string;
  } = {},
): BundleDeployment {
  return {
    apiVersion,
    kind: "BundleDeployment",
    metadata: {
      name: bundle,
      namespace: clusterNamespaceName(workspace, cluster),
      uid: `uid-${bundle}-${cluster}`,
      generation: 1,
      labels: {
        [bundleNameLabel]: bundle,
        [bundleNamespaceLabel]: workspace,
        [clusterLabel]: cluster,
        [clusterNamespaceLabel]: workspace,
      },
      finalizers: [bundleDeploymentFinalizer],
      ...metadata,
    },
    spec: { deploymentID: digestA, stagedDeploymentID: digestA, ...spec },
    ...(status !== undefined && { status }),
  };
}

export function aPolicy(name: string, fields: Omit<Policy, keyof KubeObject> = {}): Policy {
  const metadata = { name, namespace: workspace, uid: `uid-${name}` };
  return { apiVersion, kind: "Policy", metadata, ...fields };
}
