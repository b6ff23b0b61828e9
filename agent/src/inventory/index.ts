export {
  createInventory,
  type Inventory,
  type InventoryReader,
} from "./inventory.ts";
export type {
  InventoryObject,
  InventoryRelease,
  InventoryRevision,
  InventoryRun,
} from "./inventory-secret.ts";
