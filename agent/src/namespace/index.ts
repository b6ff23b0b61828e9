export { applyNamespaceMetadata, ensureNamespace } from "./release-namespace.ts";
