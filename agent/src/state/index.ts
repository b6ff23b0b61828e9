export { type Assignment, parseAssignment, partSelector } from "./assignment/assignment-secret.ts";
export {
  type AssignmentStorage,
  createAssignmentStorage,
} from "./assignment/assignment-storage.ts";
export { type Assignments, createAssignments } from "./assignment/assignments.ts";
export { createReferrers, memoizeByContent, type Referrers } from "./assignment/content-index.ts";
export type { AssignmentRequest, Intake } from "./assignment/intake.ts";
export {
  createReleaseAssignments,
  deploymentOf,
  isOnlyRelease,
  type ReleaseAssignment,
  type ReleaseAssignments,
  type ReleaseOwner,
} from "./assignment/release-assignments.ts";
export { describeSessionEnd } from "./hubclient/call-error.ts";
export {
  type ConnectHub,
  createHubConnector,
  type HubClient,
  type HubStream,
} from "./hubclient/hub-client.ts";
export type { AgentIdentity, StoredIdentity } from "./identity/agent-identity.ts";
export { createAgentKey, createCertificateRequest } from "./identity/agent-key.ts";
export { type Bootstrap, parseBootstrap } from "./identity/bootstrap.ts";
export {
  createIdentityController,
  type IdentityController,
} from "./identity/identity-controller.ts";
export { createIdentityStore, type IdentityStore } from "./identity/identity-store.ts";
export { renewBeforeExpiry } from "./identity/renewal.ts";
export type { AcceptedRequests } from "./inventory/accepted-requests.ts";
export type { Attempts } from "./inventory/attempts.ts";
export { createInventory } from "./inventory/create-inventory.ts";
export type { Inventory, InventoryReader } from "./inventory/inventory.ts";
export type { OwnerKey } from "./inventory/inventory-document.ts";
export type {
  ApplyNotes,
  FailedAttempts,
  InventoryAttempt,
  InventoryDeadline,
  InventoryHook,
  InventoryObject,
  InventoryRelease,
  InventoryRequest,
  InventoryRevision,
  InventoryRun,
  InventoryTest,
} from "./inventory/inventory-secret.ts";
export type { InventoryStore } from "./inventory/inventory-store.ts";
export { chartAccess } from "./referenced/chart-access.ts";
export { type ClusterInfoStore, createClusterInfoStore } from "./referenced/cluster-info.ts";
export {
  createReferencedObjects,
  type KnownObject,
  type ReferencedObjects,
} from "./referenced/referenced-objects.ts";
export {
  deletedOnHubWarning,
  type ReferencedDeps,
  type ReferenceUse,
  requireObject,
} from "./referenced/require-object.ts";
export { createWithdrawnObjects, type WithdrawnObjects } from "./referenced/withdrawn-objects.ts";
