export {
  createInventory,
  type Inventory,
  type InventoryReader,
} from "./inventory.ts";
export type {
  FailedAttempts,
  InventoryDeadline,
  InventoryObject,
  InventoryRelease,
  InventoryRevision,
  InventoryRun,
  InventoryTest,
} from "./inventory-secret.ts";
