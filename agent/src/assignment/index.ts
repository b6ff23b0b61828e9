export { type Assignment, parseAssignment, partSelector } from "./assignment-secret.ts";
export { type AssignmentStorage, createAssignmentStorage } from "./assignment-storage.ts";
export { type Assignments, createAssignments } from "./assignments.ts";
export { createReferrers, memoizeByContent, type Referrers } from "./content-index.ts";
export type { AssignmentRequest, Intake } from "./intake.ts";
export {
  type AssignmentsOf,
  createReleaseAssignments,
  deploymentOf,
  isOnlyRelease,
  type ReleaseAssignment,
  type ReleaseAssignments,
  type ReleaseOwner,
} from "./release-assignments.ts";
