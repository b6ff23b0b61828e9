/** One run of `helm upgrade --install`: with its chart, under a note, and with what became of it known at once. */
import type { ChartCache } from "@flotilla/shared/charts/chart-cache.ts";
import type { Clock, Timer } from "@flotilla/shared/clock/clock.ts";
import type { DeploymentContent } from "@flotilla/shared/content/content.ts";
import { AppError, commonErrors } from "@flotilla/shared/errors/app-error.ts";
import type { ReconcileContext } from "@flotilla/shared/kube/controller.ts";
import type { KubeRest } from "@flotilla/shared/kube/rest.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import { toHelmJson } from "@flotilla/shared/yaml/helm-yaml.ts";
import type { Actor } from "../acting/actors.ts";
import type { Assignments } from "../assignment/assignments.ts";
import type { Copies } from "../copies/copies.ts";
import { agentErrors } from "../errors.ts";
import { upgradeArgs } from "../helm/commands.ts";
import { isLocked, parseRelease } from "../helm/release-record.ts";
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

export interface UpgradeDeps {
  readonly rest: KubeRest;
  readonly assignments: Assignments;
  readonly releases: Releases;
  readonly stored: StoredReleases;
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
  readonly aside: ReconcileContext["aside"];
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

  /** Where the records cannot be read the watch will tell them. */
  async function learnFailure(
    { owner, ...release }: Desired,
    { helm }: DeploymentContent,
    revision: number,
  ): Promise<void> {
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
  }

  return async function upgrade(made, { signal, superseded, aside }) {
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
    await notes.begin({
      deployment: owner.name,
      namespace,
      release: name,
      revision,
      rollsBack: content.helm.atomic,
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
      await learnFailure(desired, content, revision);
      throw new AppError(
        agentErrors.HELM_FAILED,
        `helm upgrade --install of release ${namespace}/${name}: ${inputs.hide(complaintOf(result))}`,
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
