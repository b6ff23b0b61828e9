export {
  createOciArtifacts,
  type OciArtifact,
  type OciArtifacts,
  type OciQuery,
} from "./artifact.ts";
export {
  chartVersionOf,
  formatRevision,
  type OciRevision,
} from "./oci-reference.ts";
export { createOciSource } from "./oci-source.ts";
export { createOciRegistry } from "./registry.ts";
export { createRegistryAuth } from "./registry-auth.ts";
export { publicKeyOf } from "./signature.ts";
export { createTagLists } from "./tags.ts";
