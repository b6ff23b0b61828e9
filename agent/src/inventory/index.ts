export type { AcceptedRequests } from "./accepted-requests.ts";
export type { Attempts } from "./attempts.ts";
export { createInventory } from "./create-inventory.ts";
export type { Inventory, InventoryReader } from "./inventory.ts";
export type { OwnerKey } from "./inventory-document.ts";
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
  Refused,
} from "./inventory-secret.ts";
export type { InventoryStore } from "./inventory-store.ts";
