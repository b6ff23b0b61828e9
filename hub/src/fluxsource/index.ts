export { secretNames, sourceAccess } from "./access.ts";
export { type FluxCondition, fluxConditions, withFluxCondition } from "./conditions.ts";
export {
  createSourceController,
  type ReadSecret,
  type SourceController,
  type SourceControllerDeps,
} from "./source-controller.ts";
export { noSourceArtifact, SourceError } from "./source-error.ts";
export {
  chartVerificationError,
  isUsable,
  type SourceArtifact,
  type SourceObject,
  type SourceResult,
} from "./source-status.ts";
export { timeoutOf } from "./timeout.ts";
export { trustedKeysDigest, verifySignature } from "./verification.ts";
