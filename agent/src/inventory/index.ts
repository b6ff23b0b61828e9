export {
  createInventory,
  type Inventory,
  type InventoryReader,
} from "./inventory.ts";
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
