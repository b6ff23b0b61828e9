/** The documents of the inventory, one for each release, kept in Secrets with a signature by a key that only the agent has. */
import { randomBytes } from "node:crypto";
import { agentNamespace } from "@flotilla/shared/api/names";
import { createKeyedMutex } from "@flotilla/shared/concurrency";
import { AppError, messageOf } from "@flotilla/shared/errors";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { secrets } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import { agentErrors } from "../../base/errors/index.ts";
import { createSecretStorage, type SecretStorage } from "../../base/index.ts";
import { isEmpty, keyOf, type ReleaseRef } from "./inventory-document.ts";
import {
  type InventoryDocument,
  inventoryKeyName,
  inventoryName,
  inventorySecret,
  inventorySelector,
  parseInventory,
} from "./inventory-secret.ts";

export class InventoryStore {
  readonly #rest: KubeRest;
  readonly #log: Log;
  readonly #storage: SecretStorage;
  #key: Uint8Array = randomBytes(32);
  #isComplete = false;
  readonly #documents = new Map<string, InventoryDocument>();
  /** Ids by what Helm has installed, and by the UID of a downstream resource. */
  readonly #byRelease = new Map<string, string>();
  readonly #byObject = new Map<string, string>();
  readonly #writes = createKeyedMutex();
  readonly #unstored = new Set<string>();

  constructor({ rest, log }: { readonly rest: KubeRest; readonly log: Log }) {
    this.#rest = rest;
    this.#log = log;
    this.#storage = createSecretStorage(rest);
  }

  /** Reads what is stored. False: there is no key, so nothing was ever stored. */
  async load(): Promise<boolean> {
    const ref = { namespace: agentNamespace, name: inventoryKeyName };
    const stored = await this.#rest.get(secrets, ref);
    const text = stored?.data?.["key"];
    if (text === undefined) return false;
    this.#key = Buffer.from(text, "base64");
    this.#isComplete = stored?.data?.["complete"] !== undefined;
    for (const secret of await this.#storage.list(inventorySelector)) {
      const document = parseInventory(secret, this.#key);
      if (document !== undefined) this.#set(document);
      else
        this.#log.warn(
          { secret: secret.metadata.name },
          "inventory is not signed by this agent, ignoring it",
        );
    }
    return true;
  }

  /** Stores a new key. Must follow what is taken over when `load` returned false. */
  async storeKey(): Promise<void> {
    const encoded = {
      key: Buffer.from(this.#key).toString("base64"),
      ...(this.#isComplete && { complete: Buffer.from("true").toString("base64") }),
    };
    await this.#storage.write({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { namespace: agentNamespace, name: inventoryKeyName },
      type: "flotilla.dev/inventory-key",
      data: encoded,
    });
  }

  /** Whether a deployment that is neither assigned nor in the inventory has nothing installed. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** The hub has sent all that it wants of this cluster since the inventory began. */
  async setComplete(): Promise<void> {
    if (this.#isComplete) return;
    this.#isComplete = true;
    await this.storeKey().catch((thrown: unknown) => {
      this.#isComplete = false;
      throw thrown;
    });
  }

  /** By the id of a release. Undefined: the inventory has nothing of it. */
  get(id: string): InventoryDocument | undefined {
    return this.#documents.get(id);
  }

  /** The id under which Helm's release is in the inventory. */
  idOf(release: ReleaseRef): string | undefined {
    return this.#byRelease.get(keyOf(release));
  }

  /** The id of the release that a downstream resource was created for. */
  idOfObject(uid: string): string | undefined {
    return this.#byObject.get(uid);
  }

  /** Takes effect at once, and is then stored. Throws INVENTORY_NOT_STORED. */
  async change(
    id: string,
    make: (document: InventoryDocument) => InventoryDocument,
  ): Promise<void> {
    this.#set(make(this.#documents.get(id) ?? { deployment: id, releases: [], objects: [] }));
    this.#unstored.add(id);
    await this.#store(id);
  }

  /** Retries a write that failed. Throws INVENTORY_NOT_STORED. */
  async ensureStored(id: string): Promise<void> {
    if (this.#unstored.has(id)) await this.#store(id);
  }

  #set(document: InventoryDocument): void {
    const { deployment: id } = document;
    const before = this.#documents.get(id);
    for (const release of before?.releases ?? [])
      if (this.#byRelease.get(keyOf(release)) === id) this.#byRelease.delete(keyOf(release));
    for (const { uid } of before?.objects ?? [])
      if (this.#byObject.get(uid) === id) this.#byObject.delete(uid);
    for (const release of document.releases) this.#byRelease.set(keyOf(release), id);
    for (const { uid } of document.objects) this.#byObject.set(uid, id);
    if (isEmpty(document)) this.#documents.delete(id);
    else this.#documents.set(id, document);
  }

  #store(id: string): Promise<void> {
    return this.#writes.run(id, async () => {
      const document = this.#documents.get(id);
      try {
        if (document === undefined) await this.#storage.remove(inventoryName(id));
        else await this.#storage.write(inventorySecret(document, this.#key));
      } catch (thrown) {
        throw new AppError(
          agentErrors.INVENTORY_NOT_STORED,
          `store the inventory of deployment ${id} in this cluster: ${messageOf(thrown)}`,
          { cause: thrown },
        );
      }
      if (this.#documents.get(id) === document) this.#unstored.delete(id);
    });
  }
}
