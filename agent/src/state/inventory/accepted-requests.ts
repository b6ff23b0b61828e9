/** What the inventory keeps of the requests of users: each is accepted once, also over restarts. By the ids of releases. */
import type { RequestEffects } from "./inventory-document.ts";
import type { InventoryRequest } from "./inventory-secret.ts";
import type { InventoryStore } from "./inventory-store.ts";

/** Every change takes effect at once and is then stored. They throw INVENTORY_NOT_STORED. */
export class AcceptedRequests {
  readonly #documents: InventoryStore;

  constructor(documents: InventoryStore) {
    this.#documents = documents;
  }

  /** The token of the request that was handled last. */
  handledRequestOf(id: string): string | undefined {
    return this.#documents.get(id)?.handledRequest;
  }

  /** The request that was accepted last; undefined also for one that an agent before 0.4.0 has handled. */
  requestOf(id: string): InventoryRequest | undefined {
    return this.#documents.get(id)?.request;
  }

  /** With one write, so that no request counts as handled before what it resets is reset. */
  async acceptRequest(
    id: string,
    request: InventoryRequest,
    { isHandled, resetsFailures }: RequestEffects,
  ): Promise<void> {
    await this.#documents.change(id, ({ failedAttempts, ...document }) => ({
      ...document,
      request,
      ...(isHandled && { handledRequest: request.token }),
      ...(!resetsFailures && failedAttempts !== undefined && { failedAttempts }),
    }));
  }

  /** Enters the result of the request that was accepted last. */
  async answerRequest(id: string, result: NonNullable<InventoryRequest["result"]>): Promise<void> {
    await this.#documents.change(id, ({ request, ...document }) => ({
      ...document,
      ...(request !== undefined && { request: { ...request, result } }),
    }));
  }
}
