/** The parts of the inventory, over the same documents. */
import { AcceptedRequests } from "./accepted-requests.ts";
import { Attempts } from "./attempts.ts";
import { Inventory } from "./inventory.ts";
import { InventoryStore } from "./inventory-store.ts";

export function createInventory(deps: ConstructorParameters<typeof InventoryStore>[0]) {
  const documents = new InventoryStore(deps);
  return {
    documents,
    inventory: new Inventory(documents),
    attempts: new Attempts(documents),
    requests: new AcceptedRequests(documents),
  };
}
