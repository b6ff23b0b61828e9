/** The product's kinds in the API. */
import type { Resource } from "../../kubernetes/objects/index.ts";
import { appDefinitions } from "./apps/index.ts";
import type { Bundle } from "./bundle.ts";
import type { BundleDeployment } from "./bundle-deployment.ts";
import type { BundleNamespaceMapping } from "./bundle-namespace-mapping.ts";
import type { Cluster } from "./cluster.ts";
import type { ClusterGroup } from "./cluster-group.ts";
import type { ClusterRegistrationToken } from "./cluster-registration-token.ts";
import type { HelmOp } from "./helm-op.ts";
import type { Policy } from "./policy.ts";
import type { Schedule } from "./schedule.ts";

export const apiGroup = "fleet.cattle.io";
export const apiVersion = "fleet.cattle.io/v1alpha1";

const home = { group: apiGroup, version: "v1alpha1", namespaced: true } as const;

export const helmOps: Resource<HelmOp> = appDefinitions.HelmOp.resource;
export const bundles: Resource<Bundle> = appDefinitions.Bundle.resource;
export const bundleDeployments: Resource<BundleDeployment> = {
  ...home,
  kind: "BundleDeployment",
  plural: "bundledeployments",
};
export const bundleNamespaceMappings: Resource<BundleNamespaceMapping> = {
  ...home,
  kind: "BundleNamespaceMapping",
  plural: "bundlenamespacemappings",
};
export const clusters: Resource<Cluster> = { ...home, kind: "Cluster", plural: "clusters" };
export const clusterGroups: Resource<ClusterGroup> = {
  ...home,
  kind: "ClusterGroup",
  plural: "clustergroups",
};
export const clusterRegistrationTokens: Resource<ClusterRegistrationToken> = {
  ...home,
  kind: "ClusterRegistrationToken",
  plural: "clusterregistrationtokens",
};
export const policies: Resource<Policy> = { ...home, kind: "Policy", plural: "policies" };
export const schedules: Resource<Schedule> = { ...home, kind: "Schedule", plural: "schedules" };
