/** Records in the inventory what a run of Helm has left, whether it succeeded or failed. */
import { AppError } from "@flotilla/shared/errors";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import {
  type HelmResult,
  isLocked,
  type ReadRecords,
  type ReleaseRecord,
  type Releases,
  type StoredRelease,
  type StoredReleases,
} from "../../helm/index.ts";
import type { Attempts, Inventory, InventoryAttempt } from "../../state/index.ts";
import { attemptOf } from "./attempts.ts";
import { chartOf, inventoryRelease, isPrinted } from "./claims.ts";
import type { Prepared, RevisionInputs } from "./revision.ts";

export interface RecordRunDeps {
  readonly stored: StoredReleases;
  readonly records: Pick<ReadRecords, "printed" | "manifest">;
  readonly releases: Releases;
  readonly inventory: Pick<Inventory, "installed" | "releasesOf">;
  readonly attempts: Pick<Attempts, "endRun">;
  readonly clock: Clock;
  readonly log: Log;
}

/** What Helm has printed of the revision that it has created. */
export async function printedRelease(
  { records }: { readonly records: Pick<ReadRecords, "printed"> },
  { desired: { namespace, name } }: RevisionInputs,
  { stdout }: HelmResult,
): Promise<StoredRelease> {
  return await records.printed(stdout, `helm's output for release ${namespace}/${name}`);
}

/** The revision that a run has created. */
export async function recordResult(
  deps: RecordRunDeps,
  revision: RevisionInputs,
  prepared: Prepared,
  release: StoredRelease,
): Promise<void> {
  const { stored, releases, log } = deps;
  const { owner, namespace, name } = revision.desired;
  const { inputs } = revision;
  const { digest, chartDigest } = prepared;
  stored.printed(release);
  releases.ran({
    namespace: release.namespace,
    name: release.name,
    revision: release.revision,
    status: release.status,
    labelled: { name: owner.name, uid: owner.uid },
    digest,
    ...(inputs.origin !== undefined && { origin: inputs.origin }),
    chartDigest,
    isOwn: true,
  });
  await enter(deps, revision, prepared, { release, endsRun: true });
  log.info(
    { deployment: owner.name, release: name, namespace, revision: release.revision },
    "release installed",
  );
}

interface Entered {
  readonly release: StoredRelease;
  /** Absent: Helm has printed it. */
  readonly fromRecord?: true | undefined;
  readonly endsRun: boolean;
  /** It has failed. */
  readonly attempt?: InventoryAttempt;
}

/** Enters a revision that the agent created into the inventory. */
async function enter(
  { inventory, releases, clock }: Pick<RecordRunDeps, "inventory" | "releases" | "clock">,
  { assignment, desired, content, inputs, reasons }: RevisionInputs,
  { digest, parts, chartDigest, action, readyUntilMs, notes }: Prepared,
  { release, fromRecord, endsRun, attempt }: Entered,
): Promise<void> {
  const isDeployed = release.status === "deployed";
  await inventory.installed(desired.owner.id, inventoryRelease(assignment, content), {
    added: [
      {
        revision: release.revision,
        content: release.content,
        ...(fromRecord && { fromRecord }),
        digest,
        ...(inputs.origin !== undefined && { origin: inputs.origin }),
        chartDigest,
        parts,
        reasons: [...reasons],
        action,
        ...chartOf(release),
        createdAtMs: clock.now(),
        ...(isDeployed && notes !== undefined && { notes }),
      },
    ],
    isDeployed,
    attempt,
    ...(isDeployed &&
      readyUntilMs !== undefined && {
        deadline: {
          namespace: desired.namespace,
          release: desired.name,
          revision: release.revision,
          untilMs: readyUntilMs,
          isRollback: false,
        },
      }),
    kept: releases.history(desired.namespace, desired.name).map(({ revision }) => revision),
    endsRun,
  });
}

/** The release record that a failed run has written, if any. If it cannot be read, the watch delivers it later. */
export async function recordFailure(
  deps: RecordRunDeps,
  inputs: RevisionInputs,
  prepared: Prepared,
): Promise<ReleaseRecord | undefined> {
  const { stored, releases, attempts } = deps;
  const { desired, revision } = inputs;
  const { owner, ...release } = desired;
  // With `atomic` Helm has created another revision, to roll back.
  const revisions = prepared.options.isAtomic ? [revision, revision + 1] : [revision];
  const found = await Promise.all(revisions.map((each) => stored.recordAt(release, each))).catch(
    () => undefined,
  );
  const latest = found?.findLast((record) => record !== undefined);
  // A withdrawal or another content that follows at once needs it.
  if (latest !== undefined) {
    releases.ran(latest);
    const own = found?.find((record) => record?.revision === revision);
    await enterFailure(deps, inputs, prepared, { latest, own });
  }
  // The run identifies a lock that it left as the agent's own. Most often it has ended with the write above.
  if (found !== undefined && (latest === undefined || !isLocked(latest)))
    await attempts.endRun(owner.id);
  return latest;
}

function isOurs(
  record: ReleaseRecord | undefined,
  { owner }: RevisionInputs["desired"],
): record is ReleaseRecord {
  return record?.isOwn === true && record.labelled?.uid === owner.uid;
}

/** Undefined: its hooks cannot be read, which changes nothing else. */
async function failedAttempt(
  { stored, records, log }: Pick<RecordRunDeps, "stored" | "records" | "log">,
  record: ReleaseRecord,
): Promise<InventoryAttempt | undefined> {
  try {
    return await attemptOf(records, await stored.read(record));
  } catch (thrown) {
    const { namespace, name, revision } = record;
    const error = AppError.from(thrown).message;
    log.warn({ namespace, release: name, revision, error }, "cannot read the hooks of a release");
    return undefined;
  }
}

/** Helm prints nothing when it fails, so the record is read; one of another Helm client is not the agent's. */
async function enterFailure(
  deps: RecordRunDeps,
  inputs: RevisionInputs,
  prepared: Prepared,
  { latest, own }: { readonly latest: ReleaseRecord; readonly own: ReleaseRecord | undefined },
): Promise<void> {
  const { assignment, desired, content, revision } = inputs;
  const isRollback = latest.revision === revision + 1;
  if (!isRollback && !isOurs(latest, desired)) return;
  deps.stored.forget(desired);
  // With `atomic`, the revision before the rollback has the hooks.
  const attempt = isOurs(own, desired) ? await failedAttempt(deps, own) : undefined;
  const release = await deps.stored.read(latest);
  const fromRecord = isPrinted(deps.inventory, desired.owner.id, release) ? undefined : true;
  const endsRun = !isLocked(latest);
  if (!isRollback)
    return await enter(deps, inputs, prepared, {
      release,
      fromRecord,
      endsRun,
      ...(attempt !== undefined && { attempt }),
    });
  await deps.inventory.installed(desired.owner.id, inventoryRelease(assignment, content), {
    added: [
      {
        revision: latest.revision,
        content: release.content,
        ...(fromRecord && { fromRecord }),
        action: "rollback",
        ...chartOf(release),
        createdAtMs: deps.clock.now(),
      },
    ],
    kept: deps.releases.history(desired.namespace, desired.name).map(({ revision }) => revision),
    endsRun,
    attempt,
  });
}
