/** Flux's kinds in the API. */

import type { Resource } from "../../kubernetes/objects/index.ts";
import { appDefinitions } from "../fleet/apps/index.ts";
import type { Alert } from "./alert.ts";
import type { Bucket } from "./bucket.ts";
import type { GitRepository } from "./git-repository.ts";
import type { HelmChart } from "./helm-chart.ts";
import type { HelmRelease } from "./helm-release.ts";
import type { HelmRepository } from "./helm-repository.ts";
import type { OCIRepository } from "./oci-repository.ts";
import type { Provider } from "./provider.ts";
import type { Receiver } from "./receiver.ts";

const source = { group: "source.toolkit.fluxcd.io", version: "v1", namespaced: true } as const;
const notification = { group: "notification.toolkit.fluxcd.io", namespaced: true } as const;

export const helmReleases: Resource<HelmRelease> = appDefinitions.HelmRelease.resource;
export const helmRepositories: Resource<HelmRepository> = {
  ...source,
  kind: "HelmRepository",
  plural: "helmrepositories",
};
export const ociRepositories: Resource<OCIRepository> = {
  ...source,
  kind: "OCIRepository",
  plural: "ocirepositories",
};
export const gitRepositories: Resource<GitRepository> = {
  ...source,
  kind: "GitRepository",
  plural: "gitrepositories",
};
export const buckets: Resource<Bucket> = { ...source, kind: "Bucket", plural: "buckets" };
export const helmCharts: Resource<HelmChart> = {
  ...source,
  kind: "HelmChart",
  plural: "helmcharts",
};
export const alerts: Resource<Alert> = {
  ...notification,
  version: "v1beta3",
  kind: "Alert",
  plural: "alerts",
};
export const providers: Resource<Provider> = {
  ...notification,
  version: "v1beta3",
  kind: "Provider",
  plural: "providers",
};
export const receivers: Resource<Receiver> = {
  ...notification,
  version: "v1",
  kind: "Receiver",
  plural: "receivers",
};
