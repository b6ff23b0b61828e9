export { createDependencyTracker, type DependencyTracker } from "./dependency-tracker.ts";
export type { UnmetDependencies } from "./unmet-dependencies.ts";
