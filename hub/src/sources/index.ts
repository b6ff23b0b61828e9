export { createBucketController } from "./bucket/controller.ts";
export { createBucketListings } from "./bucket/listings.ts";
export { type FluxCondition, fluxConditions, withFluxCondition } from "./fluxsource/conditions.ts";
export { isUsable, type SourceObject } from "./fluxsource/source-status.ts";
export { chartsOfGitRepositories } from "./gitrepository/charts.ts";
export { createGitRepositoryController } from "./gitrepository/controller.ts";
export { createGitParts, type GitParts } from "./gitrepository/git-parts.ts";
export {
  type ChartProblem,
  dependenciesOfArtifact,
  pinOfArtifact,
  problemOfArtifact,
} from "./helmchart/artifact.ts";
export { createHelmChartController } from "./helmchart/controller.ts";
export { chartsOfBuckets } from "./helmchart/from-bucket.ts";
export { chartsOfHelmRepositories } from "./helmchart/from-helm-repository.ts";
export { provenanceOfArtifact } from "./helmchart/provenance.ts";
export { createHelmRepositoryController } from "./helmrepository/controller.ts";
export { createOciRepositoryController } from "./ocirepository/controller.ts";
