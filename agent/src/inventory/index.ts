export { createInventory, type Inventory, type InventoryReader } from "./inventory.ts";
export type {
  InventoryObject,
  InventoryRelease,
  InventoryRevision,
} from "./inventory-secret.ts";
