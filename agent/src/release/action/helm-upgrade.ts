/**
 * Runs `helm upgrade --install` with its chart and values. The run is entered into the inventory before it starts, and its
 * result at once.
 */

import type { UsedChart } from "@flotilla/shared/source/cache";
import { type HelmResult, helmErrorOf } from "../../helm/index.ts";
import { abortLater } from "./abort-later.ts";
import { watchLongRun } from "./attempts.ts";
import { helmKey, prepareUpgrade, type UpgradeDeps } from "./prepare-upgrade.ts";
import { printedRelease, recordFailure, recordResult } from "./record-run.ts";
import { isAppliedByClient, repairLists } from "./repair-lists.ts";
import type { DeployUntil, Prepared, RevisionInputs, UpgradeResult } from "./revision.ts";
import { afterFailedRun } from "./upgrade-failure.ts";

/** Such a run ends soon, unless a hook of the chart delays it. */
const defaultSupersededGraceMs = 10_000;

/** Throws LIMIT_EXCEEDED, and what prevents a run. */
export type HelmUpgrade = (revision: RevisionInputs, until: DeployUntil) => Promise<UpgradeResult>;

export function createHelmUpgrade(deps: UpgradeDeps): HelmUpgrade {
  return async function upgrade(revision, pass) {
    const used: UsedChart[] = [];
    try {
      return await prepareAndRun(deps, revision, pass, used);
    } finally {
      for (const { release } of used) release();
    }
  };
}

/** The chart is added to `used`. */
async function prepareAndRun(
  deps: UpgradeDeps,
  revision: RevisionInputs,
  pass: DeployUntil,
  used: UsedChart[],
): Promise<UpgradeResult> {
  const prepared = await prepareUpgrade(deps, revision, pass, used);
  if ("kind" in prepared) return prepared;
  const runHelm = deps.withPostRenderers(revision.content, deps.runHelm);
  const result = await runWatched({ ...deps, runHelm }, revision, prepared, pass);
  if (result.exceeded !== undefined) {
    await recordFailure(deps, revision, prepared);
    throw await deps.limitRecords.exceeded(
      helmKey(prepared),
      `helm upgrade --install of release ${nameOf(revision)} with chart ${prepared.chart}: ${helmErrorOf(result)}; other deployments continue`,
    );
  }
  if (result.code !== 0) {
    const { supersededGraceMs = defaultSupersededGraceMs } = deps;
    const failureDeps = { ...deps, supersededGraceMs };
    return await afterFailedRun(failureDeps, revision, prepared, result, pass);
  }
  const release = await printedRelease(deps, revision, result);
  const { before = [] } = prepared;
  const { rest } = revision.client;
  if (isAppliedByClient(release))
    await repairLists(deps, { release, before, rest, signal: pass.signal });
  await recordResult(deps, revision, prepared, release);
  await deps.limitRecords.succeeded(helmKey(prepared));
  return { kind: "done" };
}

async function runWatched(
  deps: UpgradeDeps,
  revision: RevisionInputs,
  prepared: Prepared,
  pass: DeployUntil,
): ReturnType<typeof run> {
  const watched = watchLongRun(deps, revision);
  try {
    return await run(deps, prepared, pass);
  } finally {
    await watched.end();
  }
}

function nameOf({ desired: { namespace, name } }: RevisionInputs): string {
  return `${namespace}/${name}`;
}

async function run(
  { runHelm, clock, supersededGraceMs = defaultSupersededGraceMs }: UpgradeDeps,
  { args, stdin, helmWaits }: Prepared,
  { signal, superseded }: DeployUntil,
): Promise<HelmResult> {
  const graceMs = helmWaits ? 0 : supersededGraceMs;
  const late = abortLater(superseded, graceMs, clock);
  return await runHelm({
    args,
    // With `atomic` Helm rolls back first, and is killed if that takes too long.
    signal: AbortSignal.any([signal, late.signal]),
    ...(stdin !== undefined && { stdin }),
  }).finally(late.cancel);
}
