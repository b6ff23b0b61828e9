/** What the inventory keeps of the attempts at a release: runs of Helm, failures, and what is waited for. By the ids of releases. */
import type { PlanVerification, ReleaseRequest } from "@flotilla/proto";
import type { OwnerKey } from "./inventory-document.ts";
import type {
  FailedAttempts,
  InventoryAttempt,
  InventoryDeadline,
  InventoryDocument,
  InventoryRun,
  Refused,
} from "./inventory-secret.ts";
import type { InventoryStore } from "./inventory-store.ts";

/** What a run of Helm is for besides its content. */
export interface RunHandles {
  /** The request of a user that it handles. */
  readonly request?: Pick<ReleaseRequest, "token"> | undefined;
  /** What was verified before it. */
  readonly verification?: Pick<PlanVerification, "at"> | undefined;
}

type Settable =
  | "run"
  | "deadline"
  | "failedAttempts"
  | "attempt"
  | "refused"
  | "stoppedAt"
  | "verifiedAt";

/** Every change takes effect at once and is then stored. They throw INVENTORY_NOT_STORED. */
export class Attempts {
  readonly #documents: InventoryStore;

  constructor(documents: InventoryStore) {
    this.#documents = documents;
  }

  /** The run of Helm that was begun and has not ended, or was interrupted. */
  runOf(id: string): InventoryRun | undefined {
    return this.#documents.get(id)?.run;
  }

  /** Enters the run of Helm that is about to start. Must be awaited before Helm is started. */
  async beginRun(
    { id, uid }: OwnerKey,
    run: InventoryRun,
    handles: RunHandles = {},
  ): Promise<void> {
    const { request, verification } = handles;
    await this.#documents.change(id, (document) => ({
      ...document,
      uid,
      run,
      ...(request !== undefined && { handledRequest: request.token }),
      ...(verification !== undefined && { verifiedAt: verification.at }),
    }));
  }

  /** Whether something was changed for the content already after it was verified: what differs by now is of the agent. */
  isVerified(id: string, { at }: Pick<PlanVerification, "at">): boolean {
    return this.#documents.get(id)?.verifiedAt === at;
  }

  /** Enters that something is about to be changed for the content, which was verified. Absent: it need not be. */
  async setVerified(
    id: string,
    verification: Pick<PlanVerification, "at"> | undefined,
  ): Promise<void> {
    if (verification !== undefined) await this.#set(id, "verifiedAt", verification.at);
  }

  /** The run has ended, and its release is not locked. */
  async endRun(id: string): Promise<void> {
    await this.#set(id, "run", undefined);
  }

  /** Until when the objects of a revision must be ready. */
  deadlineOf(id: string): InventoryDeadline | undefined {
    return this.#documents.get(id)?.deadline;
  }

  async endDeadline(id: string): Promise<void> {
    await this.#set(id, "deadline", undefined);
  }

  failedAttemptsOf(id: string): FailedAttempts | undefined {
    return this.#documents.get(id)?.failedAttempts;
  }

  /** Undefined: there are none any more. */
  async setFailedAttempts(id: string, failed: FailedAttempts | undefined): Promise<void> {
    await this.#set(id, "failedAttempts", failed);
  }

  /** The run of Helm that is in progress for a while, or the last one that failed. */
  attemptOf(id: string): InventoryAttempt | undefined {
    return this.#documents.get(id)?.attempt;
  }

  /** Undefined: it is over. */
  async setAttempt(id: string, attempt: InventoryAttempt | undefined): Promise<void> {
    await this.#set(id, "attempt", attempt);
  }

  /** What the API server has refused of the release that is attempted, until that is deployed. */
  refusedOf(id: string): Refused | undefined {
    return this.#documents.get(id)?.refused;
  }

  async setRefused(id: string, refused: Refused): Promise<void> {
    await this.#set(id, "refused", refused);
  }

  /** `forceSyncGeneration` when the release was stopped. */
  stoppedAt(id: string): number | undefined {
    return this.#documents.get(id)?.stoppedAt;
  }

  async setStoppedAt(id: string, generation: number | undefined): Promise<void> {
    await this.#set(id, "stoppedAt", generation);
  }

  /** Writes nothing if it is the same. Undefined: it is removed. */
  async #set<K extends Settable>(id: string, field: K, value: InventoryDocument[K]): Promise<void> {
    if (this.#documents.get(id)?.[field] === value) return;
    await this.#documents.change(id, (document) => ({ ...document, [field]: value }));
  }
}
