export { buildContent, releaseNamespace } from "./build-content.ts";
export { type ContentReader, type ContentStore, createContentStore } from "./content-store.ts";
export { driftOptions } from "./drift.ts";
