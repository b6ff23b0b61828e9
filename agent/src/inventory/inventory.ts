/**
 * The inventory: what the agent installed, from its own records alone. Labels and records in other namespaces can be written
 * by tenants, so they decide nothing (docs/adr/0025).
 */
import { randomBytes } from "node:crypto";
import { agentNamespace } from "@flotilla/shared/api/names";
import { createKeyedMutex } from "@flotilla/shared/concurrency";
import { AppError, messageOf } from "@flotilla/shared/errors";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { secrets } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import { agentErrors } from "../errors/index.ts";
import { createSecretStorage } from "../storage/index.ts";
import {
  type InstalledRevisions,
  isEmpty,
  keyOf,
  type OwnerKey,
  type ReleaseRef,
  type RequestEffects,
  withInstalled,
} from "./inventory-document.ts";
import {
  type FailedAttempts,
  type InventoryAttempt,
  type InventoryDeadline,
  type InventoryDocument,
  type InventoryNamespace,
  type InventoryObject,
  type InventoryRelease,
  type InventoryRequest,
  type InventoryRevision,
  type InventoryRun,
  type InventoryTest,
  inventoryKeyName,
  inventoryName,
  inventorySecret,
  inventorySelector,
  parseInventory,
  type Refused,
} from "./inventory-secret.ts";

/** What was installed, to decide about releases. */
export interface InventoryReader {
  /** For which deployment, and as which of its releases, a release was installed. */
  ownerOf(release: ReleaseRef): OwnerKey | undefined;
  revisionOf(release: ReleaseRef, revision: number): InventoryRevision | undefined;
  releasesOf(deployment: string): readonly InventoryRelease[];
}

/** Every change takes effect at once and is then stored. They throw INVENTORY_NOT_STORED. */
export interface Inventory extends InventoryReader {
  /** Reads what is stored. False: there is no key, so nothing was ever stored. */
  load(): Promise<boolean>;
  /** Stores a new key. Must follow what is taken over when `load` returned false. */
  storeKey(): Promise<void>;
  /** Whether a deployment that is neither assigned nor in the inventory has nothing installed. */
  readonly isComplete: boolean;
  /** The hub has sent all that it wants of this cluster since the inventory began. */
  setComplete(): Promise<void>;
  /**
   * Whether the agent has begun to install the deployment. From then on tenants can know its UID, so labels that name it prove
   * nothing.
   */
  knows(owner: OwnerKey): boolean;
  /** The run of Helm that was begun and has not ended, or was interrupted. */
  runOf(deployment: string): InventoryRun | undefined;
  /**
   * Enters the run of Helm that is about to start. Must be awaited before Helm is started. `handledRequest`: the token of the
   * request of a user that it handles.
   */
  beginRun(owner: OwnerKey, run: InventoryRun, handledRequest?: string): Promise<void>;
  /** The run has ended, and its release is not locked. */
  endRun(deployment: string): Promise<void>;
  /** Adds revisions to a release, which becomes one of the deployment. */
  installed(
    deployment: string,
    release: Omit<InventoryRelease, "revisions">,
    revisions: InstalledRevisions,
  ): Promise<void>;
  /** The agent created a namespace for a release of the deployment. */
  createdNamespace(deployment: string, namespace: InventoryNamespace): Promise<void>;
  namespacesOf(deployment: string): readonly InventoryNamespace[];
  deadlineOf(deployment: string): InventoryDeadline | undefined;
  endDeadline(deployment: string): Promise<void>;
  failedAttemptsOf(deployment: string): FailedAttempts | undefined;
  /** Undefined: there are none any more. */
  setFailedAttempts(deployment: string, failed: FailedAttempts | undefined): Promise<void>;
  /** The run of Helm that is in progress for a while, or the last one that failed. */
  attemptOf(deployment: string): InventoryAttempt | undefined;
  /** Undefined: it is over. */
  setAttempt(deployment: string, attempt: InventoryAttempt | undefined): Promise<void>;
  refusedOf(deployment: string): Refused | undefined;
  setRefused(deployment: string, refused: Refused): Promise<void>;
  /** The results of the tests of a revision. */
  tested(release: ReleaseRef, revision: number, tests: readonly InventoryTest[]): Promise<void>;
  /** The token of the request of a user that was handled last. */
  handledRequestOf(deployment: string): string | undefined;
  /** The request that was accepted last; undefined also for one that an agent before 0.4.0 has handled. */
  requestOf(deployment: string): InventoryRequest | undefined;
  /** With one write, so that no request counts as handled before what it resets is reset. */
  acceptRequest(
    deployment: string,
    request: InventoryRequest,
    effects: RequestEffects,
  ): Promise<void>;
  /** Enters the result of the request that was accepted last. */
  answerRequest(deployment: string, result: NonNullable<InventoryRequest["result"]>): Promise<void>;
  /** The manifest of a record was rewritten by the agent. */
  rewritten(release: ReleaseRef, revision: number, content: string): Promise<void>;
  /** Somebody has changed a record. It is not in sync any more, but what the agent created stays known. */
  disown(release: ReleaseRef, revision: number): Promise<void>;
  adopt(release: ReleaseRef, owner: OwnerKey): Promise<void>;
  removed(release: ReleaseRef): Promise<void>;
  /** A deployment was withdrawn, and nothing of it is left but downstream resources that stay. */
  withdrawn(owner: OwnerKey): Promise<void>;
  /** A suspended deployment was withdrawn: what is installed stays, and may be adopted by a later deployment. */
  left(owner: OwnerKey): Promise<void>;
  objectsOf(deployment: string): readonly InventoryObject[];
  /** The deployment that a downstream resource was created for. */
  ownerOfObject(uid: string): string | undefined;
  setObjects(deployment: string, objects: readonly InventoryObject[]): Promise<void>;
  stoppedAt(deployment: string): number | undefined;
  setStoppedAt(deployment: string, generation: number | undefined): Promise<void>;
  /** Retries a write that failed. */
  ensureStored(deployment: string): Promise<void>;
}

export interface InventoryDeps {
  readonly rest: KubeRest;
  readonly log: Log;
}

export function createInventory({ rest, log }: InventoryDeps): Inventory {
  const storage = createSecretStorage(rest);
  let key: Uint8Array = randomBytes(32);
  let isComplete = false;
  const documents = new Map<string, InventoryDocument>();
  /** Deployments by release, and by the UID of a downstream resource. */
  const byRelease = new Map<string, string>();
  const byObject = new Map<string, string>();
  const writes = createKeyedMutex();
  const unstored = new Set<string>();

  function set(document: InventoryDocument): void {
    const { deployment } = document;
    const before = documents.get(deployment);
    for (const release of before?.releases ?? [])
      if (byRelease.get(keyOf(release)) === deployment) byRelease.delete(keyOf(release));
    for (const { uid } of before?.objects ?? [])
      if (byObject.get(uid) === deployment) byObject.delete(uid);
    for (const release of document.releases) byRelease.set(keyOf(release), deployment);
    for (const { uid } of document.objects) byObject.set(uid, deployment);
    if (isEmpty(document)) documents.delete(deployment);
    else documents.set(deployment, document);
  }

  function documentOf(deployment: string): InventoryDocument {
    return documents.get(deployment) ?? { deployment, releases: [], objects: [] };
  }

  async function change(
    deployment: string,
    make: (document: InventoryDocument) => InventoryDocument,
  ): Promise<void> {
    set(make(documentOf(deployment)));
    unstored.add(deployment);
    await store(deployment);
  }

  function store(deployment: string): Promise<void> {
    return writes.run(deployment, async () => {
      const document = documents.get(deployment);
      try {
        if (document === undefined) await storage.remove(inventoryName(deployment));
        else await storage.write(inventorySecret(document, key));
      } catch (thrown) {
        throw new AppError(
          agentErrors.INVENTORY_NOT_STORED,
          `store the inventory of deployment ${deployment} in this cluster: ${messageOf(thrown)}`,
          { cause: thrown },
        );
      }
      if (documents.get(deployment) === document) unstored.delete(deployment);
    });
  }

  async function storeKey(): Promise<void> {
    const encoded = {
      key: Buffer.from(key).toString("base64"),
      ...(isComplete && { complete: Buffer.from("true").toString("base64") }),
    };
    await storage.write({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { namespace: agentNamespace, name: inventoryKeyName },
      type: "flotilla.dev/inventory-key",
      data: encoded,
    });
  }

  function releaseOf(release: ReleaseRef): readonly [string, InventoryRelease] | undefined {
    const deployment = byRelease.get(keyOf(release));
    if (deployment === undefined) return undefined;
    const found = documentOf(deployment).releases.find((each) => keyOf(each) === keyOf(release));
    return found && [deployment, found];
  }

  /** `changed` undefined: it is removed. */
  async function replaceRelease(
    release: ReleaseRef,
    changed: (found: InventoryRelease) => InventoryRelease | undefined,
  ): Promise<void> {
    const known = releaseOf(release);
    if (known === undefined) return;
    const [deployment, found] = known;
    await change(deployment, (document) => ({
      ...document,
      releases: document.releases.flatMap((each) =>
        each === found ? (changed(each) ?? []) : [each],
      ),
    }));
  }

  async function replaceRevision(
    release: ReleaseRef,
    revision: number,
    changed: (found: InventoryRevision) => InventoryRevision,
  ): Promise<void> {
    await replaceRelease(release, (found) => ({
      ...found,
      revisions: found.revisions.map((each) => (each.revision === revision ? changed(each) : each)),
    }));
  }

  /** A release has one owner. */
  async function leave(release: ReleaseRef, deployment: string): Promise<void> {
    const known = releaseOf(release);
    if (known !== undefined && known[0] !== deployment)
      await replaceRelease(release, () => undefined);
  }

  return {
    async load() {
      const stored = await rest.get(secrets, { namespace: agentNamespace, name: inventoryKeyName });
      const text = stored?.data?.["key"];
      if (text === undefined) return false;
      key = Buffer.from(text, "base64");
      isComplete = stored?.data?.["complete"] !== undefined;
      for (const secret of await storage.list(inventorySelector)) {
        const document = parseInventory(secret, key);
        if (document !== undefined) set(document);
        else
          log.warn(
            { secret: secret.metadata.name },
            "inventory is not signed by this agent, ignoring it",
          );
      }
      return true;
    },
    storeKey,
    get isComplete() {
      return isComplete;
    },
    async setComplete() {
      if (isComplete) return;
      isComplete = true;
      await storeKey().catch((thrown: unknown) => {
        isComplete = false;
        throw thrown;
      });
    },
    knows: ({ id, uid }) => documents.get(id)?.uid === uid,
    ownerOf(release) {
      const known = releaseOf(release);
      return known && { id: known[0], uid: known[1].uid };
    },
    revisionOf: (release, revision) =>
      releaseOf(release)?.[1].revisions.find((each) => each.revision === revision),
    releasesOf: (deployment) => documents.get(deployment)?.releases ?? [],
    runOf: (deployment) => documents.get(deployment)?.run,
    beginRun: ({ id, uid }, run, handledRequest) =>
      change(id, (document) => ({
        ...document,
        uid,
        run,
        ...(handledRequest !== undefined && { handledRequest }),
      })),
    async endRun(deployment) {
      if (documents.get(deployment)?.run !== undefined)
        await change(deployment, ({ run: _, ...document }) => document);
    },
    async installed(deployment, release, installed) {
      await leave(release, deployment);
      await change(deployment, (document) => withInstalled(document, release, installed));
    },
    createdNamespace: (deployment, namespace) =>
      change(deployment, (document) => ({
        ...document,
        namespaces: [
          ...(document.namespaces ?? []).filter(({ name }) => name !== namespace.name),
          namespace,
        ],
      })),
    namespacesOf: (deployment) => documents.get(deployment)?.namespaces ?? [],
    deadlineOf: (deployment) => documents.get(deployment)?.deadline,
    async endDeadline(deployment) {
      if (documents.get(deployment)?.deadline !== undefined)
        await change(deployment, ({ deadline: _, ...document }) => document);
    },
    failedAttemptsOf: (deployment) => documents.get(deployment)?.failedAttempts,
    async setFailedAttempts(deployment, failedAttempts) {
      if (failedAttempts === documents.get(deployment)?.failedAttempts) return;
      await change(deployment, ({ failedAttempts: _, ...document }) => ({
        ...document,
        ...(failedAttempts !== undefined && { failedAttempts }),
      }));
    },
    attemptOf: (deployment) => documents.get(deployment)?.attempt,
    async setAttempt(deployment, attempt) {
      if (attempt === documents.get(deployment)?.attempt) return;
      await change(deployment, ({ attempt: _, ...document }) => ({
        ...document,
        ...(attempt !== undefined && { attempt }),
      }));
    },
    refusedOf: (deployment) => documents.get(deployment)?.refused,
    setRefused: (deployment, refused) =>
      change(deployment, (document) => ({ ...document, refused })),
    tested: (release, revision, tests) =>
      replaceRevision(release, revision, (found) => ({ ...found, tests: [...tests] })),
    handledRequestOf: (deployment) => documents.get(deployment)?.handledRequest,
    requestOf: (deployment) => documents.get(deployment)?.request,
    acceptRequest: (deployment, request, { isHandled, resetsFailures }) =>
      change(deployment, ({ failedAttempts, ...document }) => ({
        ...document,
        request,
        ...(isHandled && { handledRequest: request.token }),
        ...(!resetsFailures && failedAttempts !== undefined && { failedAttempts }),
      })),
    async answerRequest(deployment, result) {
      await change(deployment, ({ request, ...document }) => ({
        ...document,
        ...(request !== undefined && { request: { ...request, result } }),
      }));
    },
    rewritten: (release, revision, content) =>
      replaceRevision(release, revision, (found) => ({ ...found, content })),
    disown: (release, revision) =>
      replaceRevision(release, revision, ({ content }) => ({ revision, content })),
    async adopt(release, owner) {
      const known = releaseOf(release);
      if (known === undefined) return;
      await leave(release, owner.id);
      await change(owner.id, (document) => ({
        ...document,
        uid: owner.uid,
        releases: [
          ...document.releases.filter((each) => keyOf(each) !== keyOf(release)),
          { ...known[1], uid: owner.uid },
        ],
      }));
    },
    removed: (release) => replaceRelease(release, () => undefined),
    async withdrawn({ id, uid }) {
      if (!documents.has(id)) return;
      await change(id, ({ deployment, uid: known, ...document }) => ({
        deployment,
        ...(known !== uid && known !== undefined && { uid: known }),
        objects: document.objects,
        // Those that were uninstalled by hand.
        releases: document.releases.filter((each) => each.uid !== uid),
      }));
    },
    async left({ id }) {
      if (documents.has(id))
        await change(id, ({ deployment, releases, objects }) => ({
          deployment,
          releases,
          objects,
        }));
    },
    objectsOf: (deployment) => documents.get(deployment)?.objects ?? [],
    ownerOfObject: (uid) => byObject.get(uid),
    async setObjects(deployment, objects) {
      await change(deployment, (document) => ({ ...document, objects }));
    },
    stoppedAt: (deployment) => documents.get(deployment)?.stoppedAt,
    async setStoppedAt(deployment, generation) {
      if (documents.get(deployment)?.stoppedAt === generation) return;
      await change(deployment, ({ stoppedAt: _, ...document }) => ({
        ...document,
        ...(generation !== undefined && { stoppedAt: generation }),
      }));
    },
    async ensureStored(deployment) {
      if (unstored.has(deployment)) await store(deployment);
    },
  };
}
