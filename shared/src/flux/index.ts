export { type Alert, type AlertSpec, alertSchemas } from "./alert.ts";
export { type Bucket, type BucketSpec, type BucketStatus, bucketSchemas } from "./bucket.ts";
export { type FluxCondition, maxConditionMessageLength } from "./condition.ts";
export type { EventSource, ReceiverResource } from "./event-source.ts";
export {
  type GitRepository,
  type GitRepositorySpec,
  type GitRepositoryStatus,
  gitRepositorySchemas,
} from "./git-repository.ts";
export {
  type HelmChart,
  type HelmChartSpec,
  type HelmChartStatus,
  helmChartSchemas,
} from "./helm-chart.ts";
export { type HelmRelease, type HelmReleaseSpec, helmReleaseSchemas } from "./helm-release.ts";
export {
  type HelmReleaseStatus,
  maxReleaseClusters,
  type ReleaseCluster,
  type ReleaseSnapshot,
} from "./helm-release-status.ts";
export {
  type HelmRepository,
  type HelmRepositorySpec,
  type HelmRepositoryStatus,
  helmRepositorySchemas,
} from "./helm-repository.ts";
export {
  type OCIRepository,
  type OCIRepositorySpec,
  type OCIRepositoryStatus,
  ociRepositorySchemas,
} from "./oci-repository.ts";
export {
  type Provider,
  type ProviderSpec,
  type ProviderType,
  providerSchemas,
} from "./provider.ts";
export {
  type Receiver,
  type ReceiverSpec,
  type ReceiverStatus,
  type ReceiverType,
  receiverSchemas,
} from "./receiver.ts";
export {
  alerts,
  buckets,
  gitRepositories,
  helmCharts,
  helmReleases,
  helmRepositories,
  ociRepositories,
  providers,
  receivers,
} from "./resources.ts";
export type { Artifact, SourcePolling } from "./source-status.ts";
