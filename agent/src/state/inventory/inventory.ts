/**
 * The inventory: what the agent installed, from its own records alone. Labels and records in other namespaces can be written
 * by tenants, so they decide nothing (docs/adr/0025).
 */
import {
  type InstalledRevisions,
  keyOf,
  type OwnerKey,
  type ReleaseRef,
  withInstalled,
} from "./inventory-document.ts";
import type {
  InventoryNamespace,
  InventoryObject,
  InventoryRelease,
  InventoryRevision,
  InventoryTest,
} from "./inventory-secret.ts";
import type { InventoryStore } from "./inventory-store.ts";

/** What was installed, to decide about releases. */
export type InventoryReader = Pick<Inventory, "ownerOf" | "revisionOf" | "releasesOf">;

/**
 * What is installed is found by its place, and all else by the ids of releases. Every change takes effect at once and is then stored. They
 * throw INVENTORY_NOT_STORED.
 */
export class Inventory {
  readonly #documents: InventoryStore;

  constructor(documents: InventoryStore) {
    this.#documents = documents;
  }

  /** Whether the agent has begun to install the release. From then on tenants can know its UID, so labels that name it prove nothing. */
  knows({ id, uid }: OwnerKey): boolean {
    return this.#documents.get(id)?.uid === uid;
  }

  /** For which deployment, and as which of its releases, a release was installed. */
  ownerOf(release: ReleaseRef): OwnerKey | undefined {
    const known = this.#find(release);
    return known && { id: known.id, uid: known.found.uid };
  }

  revisionOf(release: ReleaseRef, revision: number): InventoryRevision | undefined {
    return this.#find(release)?.found.revisions.find((each) => each.revision === revision);
  }

  /** At its place, and at those where it was before. */
  releasesOf(id: string): readonly InventoryRelease[] {
    return this.#documents.get(id)?.releases ?? [];
  }

  /** Adds revisions to what is installed at a place, which becomes one of the release. */
  async installed(
    id: string,
    release: Omit<InventoryRelease, "revisions">,
    revisions: InstalledRevisions,
  ): Promise<void> {
    await this.#leave(release, id);
    await this.#documents.change(id, (document) => withInstalled(document, release, revisions));
  }

  /** The results of the tests of a revision. */
  async tested(
    release: ReleaseRef,
    revision: number,
    tests: readonly InventoryTest[],
  ): Promise<void> {
    await this.#replaceRevision(release, revision, (found) => ({ ...found, tests: [...tests] }));
  }

  /** The manifest of a record was rewritten by the agent. */
  async rewritten(release: ReleaseRef, revision: number, content: string): Promise<void> {
    await this.#replaceRevision(release, revision, (found) => ({ ...found, content }));
  }

  /** Somebody has changed a record. It is not in sync any more, but what the agent created stays known. */
  async disown(release: ReleaseRef, revision: number): Promise<void> {
    await this.#replaceRevision(release, revision, ({ content }) => ({ revision, content }));
  }

  async adopt(release: ReleaseRef, { id, uid }: OwnerKey): Promise<void> {
    const known = this.#find(release);
    if (known === undefined) return;
    await this.#leave(release, id);
    await this.#documents.change(id, (document) => ({
      ...document,
      uid,
      releases: [
        ...document.releases.filter((each) => keyOf(each) !== keyOf(release)),
        { ...known.found, uid },
      ],
    }));
  }

  async removed(release: ReleaseRef): Promise<void> {
    await this.#replaceRelease(release, () => undefined);
  }

  /** A release was withdrawn, and nothing of it is left but downstream resources that stay. */
  async withdrawn({ id, uid }: OwnerKey): Promise<void> {
    if (this.#documents.get(id) === undefined) return;
    await this.#documents.change(id, ({ deployment, uid: known, ...document }) => ({
      deployment,
      ...(known !== uid && known !== undefined && { uid: known }),
      objects: document.objects,
      // Those that were uninstalled by hand.
      releases: document.releases.filter((each) => each.uid !== uid),
    }));
  }

  /** A suspended release was withdrawn: what is installed stays, and may be adopted by a later deployment. */
  async left({ id }: OwnerKey): Promise<void> {
    if (this.#documents.get(id) === undefined) return;
    await this.#documents.change(id, ({ deployment, releases, objects }) => ({
      deployment,
      releases,
      objects,
    }));
  }

  /** Those that the agent created for the release. */
  namespacesOf(id: string): readonly InventoryNamespace[] {
    return this.#documents.get(id)?.namespaces ?? [];
  }

  async createdNamespace(id: string, namespace: InventoryNamespace): Promise<void> {
    await this.#documents.change(id, (document) => ({
      ...document,
      namespaces: [
        ...(document.namespaces ?? []).filter(({ name }) => name !== namespace.name),
        namespace,
      ],
    }));
  }

  /** Downstream resources. */
  objectsOf(id: string): readonly InventoryObject[] {
    return this.#documents.get(id)?.objects ?? [];
  }

  /** The id of the release that a downstream resource was created for. */
  ownerOfObject(uid: string): string | undefined {
    return this.#documents.idOfObject(uid);
  }

  async setObjects(id: string, objects: readonly InventoryObject[]): Promise<void> {
    await this.#documents.change(id, (document) => ({ ...document, objects }));
  }

  /** Retries a write that failed. */
  async ensureStored(id: string): Promise<void> {
    await this.#documents.ensureStored(id);
  }

  #find(
    release: ReleaseRef,
  ): { readonly id: string; readonly found: InventoryRelease } | undefined {
    const id = this.#documents.idOf(release);
    if (id === undefined) return undefined;
    const found = this.releasesOf(id).find((each) => keyOf(each) === keyOf(release));
    return found && { id, found };
  }

  /** What is installed at a place has one owner. */
  async #leave(release: ReleaseRef, id: string): Promise<void> {
    const known = this.#find(release);
    if (known !== undefined && known.id !== id) await this.removed(release);
  }

  /** `changed` undefined: it is removed. */
  async #replaceRelease(
    release: ReleaseRef,
    changed: (found: InventoryRelease) => InventoryRelease | undefined,
  ): Promise<void> {
    const known = this.#find(release);
    if (known === undefined) return;
    await this.#documents.change(known.id, (document) => ({
      ...document,
      releases: document.releases.flatMap((each) =>
        each === known.found ? (changed(each) ?? []) : [each],
      ),
    }));
  }

  async #replaceRevision(
    release: ReleaseRef,
    revision: number,
    changed: (found: InventoryRevision) => InventoryRevision,
  ): Promise<void> {
    await this.#replaceRelease(release, (found) => ({
      ...found,
      revisions: found.revisions.map((each) => (each.revision === revision ? changed(each) : each)),
    }));
  }
}
