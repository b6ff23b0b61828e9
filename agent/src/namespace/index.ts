export { checkNamespace } from "./allowed-namespace.ts";
export { deleteCreatedNamespace } from "./delete-namespace.ts";
export { applyNamespaceMetadata, ensureNamespace } from "./release-namespace.ts";
