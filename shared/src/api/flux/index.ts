export {
  type Alert,
  type AlertSpec,
  alertSchemas,
  maxEventSources,
  maxExpressions,
} from "./alert.ts";
export { type Bucket, type BucketSpec, bucketSchemas } from "./bucket.ts";
export { type FluxCondition, maxConditionMessageLength } from "./condition.ts";
export type { EventSource, ReceiverResource } from "./event-source.ts";
export {
  type GitRepository,
  type GitRepositorySpec,
  gitRepositorySchemas,
} from "./git-repository.ts";
export {
  type HelmChart,
  type HelmChartSpec,
  helmChartSchemas,
  maxValuesFiles,
} from "./helm-chart.ts";
export { type HelmRelease, type HelmReleaseSpec, helmReleaseSchemas } from "./helm-release.ts";
export {
  type HelmReleaseStatus,
  maxReleaseClusters,
  type ReleaseCluster,
  type ReleaseSnapshot,
} from "./helm-release-status.ts";
export {
  type AccessFrom,
  accessFromSchema,
  type HelmRepository,
  type HelmRepositorySpec,
  helmRepositorySchemas,
} from "./helm-repository.ts";
export {
  type OCIRepository,
  type OCIRepositorySpec,
  ociRepositorySchemas,
} from "./oci-repository.ts";
export {
  type Provider,
  type ProviderSpec,
  providerSchemas,
} from "./provider.ts";
export {
  maxResources,
  type Receiver,
  type ReceiverSpec,
  type ReceiverStatus,
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
