export {
  contentErrors,
  contentFormat,
  type Dependency,
  type DeploymentContent,
  type HealthCheck,
  type HubValuesSource,
  maxContentBytes,
  type PackedContent,
  packContent,
  releaseDigest,
  releasePartsOf,
  unpackContent,
  type ValuesSource,
} from "./content.ts";
export { type DriftContent, driftSchema } from "./drift.ts";
export {
  contentParts,
  type Packed,
  PackedProblem,
  pack,
  packedDigest,
  partBytes,
  partCount,
  unpack,
} from "./packed.ts";
export { commonMetadataSchema, postRenderersSchema } from "./post-renderers.ts";
export { type ReleaseActions, releaseActionsSchema } from "./release-actions.ts";
export { type ChangeReason, changeReasonsOf, type ReleaseParts } from "./release-parts.ts";
