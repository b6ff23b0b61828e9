/** One run of `helm upgrade --install`: with its chart, under a note, and with what became of it known at once. */
import type { ChartCache } from "@flotilla/shared/charts/chart-cache.ts";
import type { DeploymentContent } from "@flotilla/shared/content/content.ts";
import { AppError, commonErrors, messageOf } from "@flotilla/shared/errors/app-error.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import type { ReconcileContext } from "@flotilla/shared/kube/controller/reconcile.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import type { Clock, Timer } from "@flotilla/shared/time/clock.ts";
import { toHelmJson } from "@flotilla/shared/yaml/helm-yaml.ts";
import type { Actor } from "../acting/actors.ts";
import type { Assignments } from "../assignment/assignments.ts";
import type { Copies } from "../copies/copies.ts";
import type { CrdKeeper } from "../crds/crd-keeper.ts";
import { agentErrors } from "../errors.ts";
import { upgradeArgs } from "../helm/commands.ts";
import { isLocked, parseRelease, type ReleaseRecord } from "../helm/release-record.ts";
import type { Releases } from "../helm/releases.ts";
import { complaintOf, type RunHelm } from "../helm/run-helm.ts";
import type { Gathered } from "../inputs/inputs.ts";
import { ensureNamespace } from "../namespace/ensure-namespace.ts";
import type { Desired } from "../release/next-action.ts";
import { chartAccess } from "../supply/chart-access.ts";
import type { Facts } from "../supply/facts.ts";
import type { Supplies } from "../supply/supplies.ts";
import type { CheckTemplates } from "../templates/template-guard.ts";
import type { RunNotes } from "./run-notes.ts";
import type { StoredReleases } from "./stored-releases.ts";
import type { Uninstall } from "./uninstall.ts";

export interface UpgradeDeps {
  readonly rest: KubeRest;
  readonly assignments: Assignments;
  readonly releases: Releases;
  readonly stored: StoredReleases;
  readonly crds: Pick<CrdKeeper, "beforeUpgrade">;
  readonly uninstall: Uninstall;
  readonly charts: ChartCache;
  readonly checkTemplates: CheckTemplates;
  readonly copies: Pick<Copies, "apply">;
  readonly supplies: Pick<Supplies, "get">;
  readonly facts: Pick<Facts, "get">;
  readonly runHelm: RunHelm;
  readonly notes: RunNotes;
  readonly clock: Clock;
  readonly log: Log;
  /** How long a run that waits for nothing may go on once it is superseded; default 10 s. */
  readonly patienceMs?: number;
}

/** Such a run is over in a moment, unless one of the chart's hooks holds it up. */
const usualPatienceMs = 10_000;

export interface DeployUntil {
  /** The process ends. */
  readonly signal: AbortSignal;
  /** Something else is wanted by now: Helm is not waited for. */
  readonly superseded: AbortSignal;
  /** Waits for what is not in the agent's hands while others go on. */
  readonly aside: ReconcileContext["withoutWorker"];
}

export interface Revision {
  readonly desired: Desired;
  readonly content: DeploymentContent;
  readonly revision: number;
  /** As whom it is made. */
  readonly actor: Actor;
  readonly inputs: Gathered;
}

/** Makes this revision. Throws HELM_FAILED in Helm's words. */
export type Upgrade = (made: Revision, until: DeployUntil) => Promise<void>;

export function createUpgrade(deps: UpgradeDeps): Upgrade {
  const { rest, assignments, releases, stored, charts, checkTemplates, copies } = deps;
  const { runHelm, notes, log } = deps;
  const { clock, patienceMs = usualPatienceMs } = deps;

  /** Gives the record that the run has left, if any. Where records cannot be read the watch will tell them. */
  async function learnFailure(
    { owner, ...release }: Desired,
    { helm }: DeploymentContent,
    revision: number,
  ): Promise<ReleaseRecord | undefined> {
    // With `atomic` Helm has made another one, by which it went back.
    const revisions = helm.atomic ? [revision, revision + 1] : [revision];
    const found = await Promise.all(revisions.map((each) => stored.recordAt(release, each))).catch(
      () => undefined,
    );
    const latest = found?.findLast((record) => record !== undefined);
    // A withdrawal, or another content, that comes at once must not overlook it.
    if (latest !== undefined) releases.ran(latest);
    // A lock that it has left is told to be ours by the note.
    if (found !== undefined && (latest === undefined || !isLocked(latest)))
      await notes.end(owner.name);
    return latest;
  }

  /**
   * What Helm itself does with `atomic` when it cannot install: but it would take definitions along that are to stay, and
   * that may have been there before. Gives what is to be said of it.
   */
  async function undo(
    record: ReleaseRecord,
    { actor, content }: Revision,
    { signal, superseded }: DeployUntil,
  ): Promise<string> {
    const late = abortLater(superseded, patienceMs, clock);
    try {
      await deps.uninstall(record, {
        keep: true,
        actor,
        signal: AbortSignal.any([signal, late.signal]),
        ...(!superseded.aborted && { waitSeconds: content.helm.timeoutSeconds }),
      });
      return "; what it had installed was removed again, as atomic asks for";
    } catch (thrown) {
      return `; what it had installed could not be removed again: ${messageOf(thrown)}`;
    } finally {
      late.cancel();
    }
  }

  return async function upgrade(made, pass) {
    const { signal, superseded, aside } = pass;
    const { desired, content, revision, actor, inputs } = made;
    const { owner, namespace, name } = desired;
    const until = AbortSignal.any([signal, superseded]);
    const chart = await aside(() =>
      charts.fetch(content.pin, chartAccess(content, deps), { signal: until }),
    );
    const { digest, ...final } = await inputs.final();
    await checkTemplates({ content, chart, actor, values: final.values });
    const values = final.values === undefined ? undefined : toHelmJson(final.values);
    // An agent that installed what it has not kept would not know, once restarted, that it is to be uninstalled.
    await assignments.stored(owner.name);
    refuseWhenOver(until);
    const keep = content.deleteCRDResources !== true;
    const isUndoneByHelm = !(keep && isFirst(releases.latest(namespace, name)));
    await deps.crds.beforeUpgrade(desired, { keep, actor, signal });
    await notes.begin({
      deployment: owner.name,
      namespace,
      release: name,
      revision,
      rollsBack: content.helm.atomic && isUndoneByHelm,
    });
    if (content.createNamespace && revision === 1)
      await ensureNamespace({ actor, own: rest }, namespace, signal);
    await copies.apply(inputs.copies, { owner: owner.name, namespace, actor, signal });
    let noted: Promise<void> = Promise.resolve();
    const late = abortLater(superseded, content.helm.timeoutSeconds > 0 ? 0 : patienceMs, clock);
    const result = await runHelm({
      args: [
        ...upgradeArgs({
          content,
          hasValues: values !== undefined,
          owner,
          digest,
          origin: inputs.origin,
          revision,
          chartPath: chart.path,
          chartDigest: chart.digest,
          isUndoneByHelm,
        }),
        ...actor.helmArgs,
      ],
      // With `atomic` Helm goes back first, and where that gets nowhere it is cut off.
      signal: AbortSignal.any([signal, late.signal]),
      ...(values !== undefined && { stdin: values }),
      onStart: (pid) => {
        noted = notes.started(owner.name, pid);
        // It is awaited when Helm has ended.
        noted.catch(() => undefined);
      },
    }).finally(late.cancel);
    await noted;
    if (result.code !== 0) {
      const left = await learnFailure(desired, content, revision);
      const isToBeUndone = content.helm.atomic && !isUndoneByHelm && !signal.aborted;
      const undone = isToBeUndone && left !== undefined ? await undo(left, made, pass) : "";
      throw new AppError(
        agentErrors.HELM_FAILED,
        `helm upgrade --install of release ${namespace}/${name}: ${inputs.hide(`${complaintOf(result)}${undone}`)}`,
      );
    }
    const release = parseRelease(result.stdout, `what helm printed of ${namespace}/${name}`);
    stored.printed(release);
    const { status } = release;
    releases.ran({
      namespace: release.namespace,
      name: release.name,
      revision: release.revision,
      status,
      owner,
      digest,
      ...(inputs.origin !== undefined && { origin: inputs.origin }),
      chartDigest: chart.digest,
      isOurs: true,
    });
    await notes.end(owner.name);
    log.info(
      { deployment: owner.name, release: name, namespace, revision: release.revision },
      "release installed",
    );
  };
}

/** Whether Helm installs, where it otherwise would upgrade. */
function isFirst(latest: ReleaseRecord | undefined): boolean {
  return latest === undefined || latest.status === "uninstalled";
}

/** Aborts this long after `signal` has, unless it is cancelled before. */
function abortLater(
  signal: AbortSignal,
  delayMs: number,
  clock: Clock,
): { readonly signal: AbortSignal; readonly cancel: () => void } {
  const late = new AbortController();
  let timer: Timer | undefined;
  const wind = (): void => {
    if (delayMs === 0) late.abort();
    else timer = clock.setTimeout(() => late.abort(), delayMs);
  };
  if (signal.aborted) wind();
  else signal.addEventListener("abort", wind, { once: true });
  return {
    signal: late.signal,
    cancel: () => {
      signal.removeEventListener("abort", wind);
      timer?.cancel();
    },
  };
}

/** Throws CANCELLED when nobody wants it any more. */
export function refuseWhenOver(until: AbortSignal): void {
  if (!until.aborted) return;
  throw new AppError(commonErrors.CANCELLED, "given up: something else is wanted by now");
}
