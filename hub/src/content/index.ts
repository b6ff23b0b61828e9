export { buildContent, copiesOf, releaseNamespace, valuesSources } from "./build-content.ts";
export { type ContentReader, type ContentStore, createContentStore } from "./content-store.ts";
export {
  createDeploymentSigner,
  createDeploymentTrust,
  type DeploymentSigner,
  type DeploymentTrust,
  signatureOf,
} from "./deployment-signature.ts";
export { driftOptions } from "./drift.ts";
export { bundleLabels } from "./labels.ts";
