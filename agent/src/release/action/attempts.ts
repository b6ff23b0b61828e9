/**
 * Enters into the inventory what a run of Helm has to do before it has ended, or because it has failed: its hooks are in no
 * manifest, and the record that has them is deleted when a failed release is uninstalled. Tenants can write records, so what is
 * answered to users is what the agent has seen then (docs/adr/0025).
 */
import { AppError } from "@flotilla/shared/errors";
import type { Log } from "@flotilla/shared/log";
import type { Clock, Timer } from "@flotilla/shared/time";
import {
  type HookObject,
  type ReadRecords,
  readHooks,
  type StoredRelease,
  type StoredReleases,
} from "../../helm/index.ts";
import type { Attempts, InventoryAttempt } from "../../state/index.ts";
import type { RevisionInputs } from "./revision.ts";

export interface AttemptDeps {
  readonly stored: Pick<StoredReleases, "recordAt" | "read" | "forget">;
  readonly records: Pick<ReadRecords, "manifest">;
  readonly attempts: Pick<Attempts, "setAttempt">;
  readonly clock: Clock;
  readonly log: Log;
}

/** Most runs have ended by then, and their result is entered instead. */
const enterAfterMs = 4_000;

/**
 * The attempt in the record of a run. Helm has printed nothing yet that the record could be compared with, and a tenant may have
 * written it meanwhile, so hooks in other namespaces are left out: logs are read as the agent where no account is named. Throws
 * LIMIT_EXCEEDED.
 */
export async function attemptOf(
  records: Pick<ReadRecords, "manifest">,
  release: StoredRelease,
): Promise<InventoryAttempt> {
  const { namespace, name, revision, content } = release;
  const hooks = (await readHooks(records, release))
    .filter((hook) => (hook.namespace ?? namespace) === namespace)
    .map(toInventory);
  return { namespace, release: name, revision, content, hooks };
}

function toInventory(object: HookObject) {
  const {
    isDeletedWhenEnded: _ended,
    expiresAt: _expires,
    events,
    deletePolicies,
    ...hook
  } = object;
  return { ...hook, events: [...events], deletePolicies: [...deletePolicies] };
}

/**
 * Enters a run that takes long, once Helm has written its record. `end` must be called when the run has ended, and before its
 * result is entered. A failure is logged: the run does not depend on it.
 */
export function watchLongRun(
  deps: AttemptDeps,
  { desired, revision }: Pick<RevisionInputs, "desired" | "revision">,
): { end(): Promise<void> } {
  const { stored, records, attempts, clock, log } = deps;
  const { owner } = desired;
  let hasEnded = false;
  let entering: Promise<void> = Promise.resolve();
  let timer: Timer;

  async function enter(): Promise<void> {
    const record = await stored.recordAt(desired, revision);
    if (record === undefined) return wait();
    stored.forget(record);
    const release = await stored.read(record);
    // Its status changes with every hook.
    stored.forget(record);
    await attempts.setAttempt(owner.id, await attemptOf(records, release));
  }

  function wait(): void {
    if (hasEnded) return;
    timer = clock.setTimeout(() => {
      entering = enter().catch((thrown: unknown) => {
        log.warn(
          { deployment: owner.name, error: AppError.from(thrown).message },
          "cannot enter the run of Helm that is in progress",
        );
      });
    }, enterAfterMs);
  }

  wait();
  return {
    async end() {
      hasEnded = true;
      timer.cancel();
      await entering;
    },
  };
}
