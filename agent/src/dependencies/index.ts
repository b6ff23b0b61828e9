export {
  createDependencyTracker,
  type DependencyTracker,
  type ReportedState,
} from "./dependency-tracker.ts";
export type { UnmetDependencies } from "./unmet-dependencies.ts";
