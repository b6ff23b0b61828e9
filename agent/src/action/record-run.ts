/** Records in the inventory what a run of Helm has left, whether it succeeded or failed. */
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import {
  type HelmResult,
  isLocked,
  type ReleaseRecord,
  type Releases,
  type StoredReleases,
} from "../helm/index.ts";
import type { Inventory } from "../inventory/index.ts";
import type { HelmRelease, ReadRecords } from "../record/index.ts";
import { chartOf, inventoryRelease } from "./claims.ts";
import type { Prepared, RevisionInputs } from "./revision.ts";

export interface RecordRunDeps {
  readonly stored: StoredReleases;
  readonly records: Pick<ReadRecords, "printed">;
  readonly releases: Releases;
  readonly inventory: Pick<Inventory, "installed" | "endRun">;
  readonly clock: Clock;
  readonly log: Log;
}

/** The revision that a run has created, from what Helm has printed. */
export async function recordResult(
  deps: RecordRunDeps,
  revision: RevisionInputs,
  prepared: Prepared,
  result: HelmResult,
): Promise<void> {
  const { stored, records, releases, log } = deps;
  const { owner, namespace, name } = revision.desired;
  const { inputs } = revision;
  const { digest, chartDigest } = prepared;
  const release = await records.printed(
    result.stdout,
    `helm's output for release ${namespace}/${name}`,
  );
  stored.printed(release);
  releases.ran({
    namespace: release.namespace,
    name: release.name,
    revision: release.revision,
    status: release.status,
    owner,
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

/** Enters a revision that the agent created into the inventory. */
async function enter(
  { inventory, releases, clock }: Pick<RecordRunDeps, "inventory" | "releases" | "clock">,
  { assignment, desired, content, inputs }: RevisionInputs,
  { digest, chartDigest, action, readyUntilMs }: Prepared,
  { release, endsRun }: { readonly release: HelmRelease; readonly endsRun: boolean },
): Promise<void> {
  await inventory.installed(desired.owner.name, inventoryRelease(assignment, content), {
    added: [
      {
        revision: release.revision,
        content: release.content,
        digest,
        ...(inputs.origin !== undefined && { origin: inputs.origin }),
        chartDigest,
        action,
        ...chartOf(release),
        createdAtMs: clock.now(),
      },
    ],
    ...(release.status === "deployed" &&
      readyUntilMs !== undefined && {
        deadline: {
          ...{ namespace: desired.namespace, release: desired.name },
          ...{ revision: release.revision, untilMs: readyUntilMs, isRollback: false },
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
  const { stored, releases, inventory } = deps;
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
    await enterFailure(deps, inputs, prepared, latest);
  }
  // The run identifies a lock that it left as the agent's own. Most often it has ended with the write above.
  if (found !== undefined && (latest === undefined || !isLocked(latest)))
    await inventory.endRun(owner.name);
  return latest;
}

/** Helm prints nothing when it fails, so the record is read; one of another Helm client is not the agent's. */
async function enterFailure(
  deps: RecordRunDeps,
  inputs: RevisionInputs,
  prepared: Prepared,
  latest: ReleaseRecord,
): Promise<void> {
  const { assignment, desired, content, revision } = inputs;
  const isRollback = latest.revision === revision + 1;
  if (!isRollback && (!latest.isOwn || latest.owner?.uid !== desired.owner.uid)) return;
  deps.stored.forget(desired);
  const release = await deps.stored.read(latest);
  const endsRun = !isLocked(latest);
  if (!isRollback) return await enter(deps, inputs, prepared, { release, endsRun });
  await deps.inventory.installed(desired.owner.name, inventoryRelease(assignment, content), {
    added: [
      {
        ...{ revision: latest.revision, content: release.content },
        ...{ action: "rollback", ...chartOf(release), createdAtMs: deps.clock.now() },
      },
    ],
    kept: deps.releases.history(desired.namespace, desired.name).map(({ revision }) => revision),
    endsRun,
  });
}
