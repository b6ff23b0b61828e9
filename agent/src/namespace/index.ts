export { checkNamespace } from "./allowed-namespace.ts";
export { deleteCreatedNamespace } from "./delete-namespace.ts";
export { applyNamespaceMetadata, ensureNamespace, markNamespace } from "./release-namespace.ts";
