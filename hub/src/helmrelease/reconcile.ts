/** HelmRelease to Bundle: validates, keeps the generated HelmChart, and keeps the Bundle as planned. */
import type { Bundle, BundleDeployment, Cluster, Policy } from "@flotilla/shared/api";
import { fluxFinalizer } from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import { AppError } from "@flotilla/shared/errors";
import {
  type HelmChart,
  type HelmRelease,
  type HelmReleaseStatus,
  helmCharts,
  helmReleases,
} from "@flotilla/shared/flux";
import type { Store } from "@flotilla/shared/kube/cache";
import { isAlreadyExists, type KubeRest } from "@flotilla/shared/kube/client";
import {
  addFinalizer,
  done,
  type Reconcile,
  type Result,
  removeFinalizer,
  requeueAfter,
} from "@flotilla/shared/kube/controller";
import type { EventRecorder } from "@flotilla/shared/kube/events";
import { keyOf, namespaces, type ObjectKey } from "@flotilla/shared/kube/objects";
import type { Patterns } from "@flotilla/shared/regex";
import { type Clock, formatTimeMs } from "@flotilla/shared/time";
import { byBundle, clusterKeyOf, type FluxInformers } from "../cache/index.ts";
import { hubErrors } from "../errors/index.ts";
import {
  deleteBundle,
  nameTaken,
  ownBundle,
  setSuspended,
  writeBundle,
} from "../frontend/index.ts";
import { releaseMetadata } from "../notification/index.ts";
import {
  type HubRules,
  lendersOf,
  policiesIn,
  recordViolation,
  usedByBundle,
  violationOf,
} from "../policy/index.ts";
import type { PinSigner } from "../resolve/index.ts";
import type { Publisher } from "../status/index.ts";
import {
  changedChart,
  chartSourceOf,
  generatedChart,
  isGeneratedFor,
  type ReleaseChart,
} from "./chart.ts";
import { type Decision, decidedStatus, suspendedStatus } from "./decided-status.ts";
import { type FindChartDeps, findChart } from "./find-chart.ts";
import { notifiedStatus } from "./notified-status.ts";
import { helmReleaseBundles } from "./own-bundle.ts";
import { placementOf, policyNamespacesOf } from "./placement.ts";
import { bundleKeyFor, planBundle } from "./plan.ts";
import { isShared, sharingProblem } from "./shared-sources.ts";
import { uninstalledNote } from "./uninstall.ts";
import { type ValidationOptions, validate } from "./validate.ts";

export interface HelmReleaseDeps extends FindChartDeps, HubRules {
  readonly flux: FindChartDeps["flux"] & {
    readonly helmReleases: Pick<FluxInformers["helmReleases"], "store">;
  };
  readonly rest: KubeRest;
  readonly bundles: Store<Bundle>;
  readonly deployments: Store<BundleDeployment>;
  readonly clusters: Store<Cluster>;
  readonly policies: Store<Policy>;
  readonly patterns: Patterns;
  readonly signer: PinSigner;
  readonly statuses: Pick<Publisher<HelmReleaseStatus, HelmRelease>, "current" | "publish">;
  readonly events: EventRecorder;
  readonly clock: Pick<Clock, "now">;
  readonly options: ValidationOptions;
}

/** Whether the clusters are still connected that uninstall a release; the last of its deployments reconciles it at once. */
const uninstallCheckMs = 30_000;

/** The labels of namespaces are not watched. */
const namespaceCheckMs = 60_000;

/** Flux's reasons of errors of the hub. */
const reasons: ReadonlyMap<string, string> = new Map([
  [hubErrors.ACCESS_DENIED.code, "AccessDenied"],
  [hubErrors.HELMRELEASE_INVALID.code, "Invalid"],
  [hubErrors.POLICY_VIOLATION.code, "PolicyViolation"],
  [hubErrors.BUNDLE_NAME_TAKEN.code, "NameTaken"],
]);

export function helmReleaseReconciler(deps: HelmReleaseDeps): Reconcile {
  const { flux, rest, statuses } = deps;

  return async function reconcile(key, { signal }): Promise<Result> {
    const release = flux.helmReleases.store.get(key);
    if (release === undefined) return done();
    if (release.metadata.deletionTimestamp !== undefined) return await finalize(release, signal);
    const kept = await addFinalizer(finalizerOptions(signal), release);
    // Deleted before it had the finalizer.
    if (kept === undefined) return done();
    return await update(kept, signal);
  };

  async function update(release: HelmRelease, signal: AbortSignal): Promise<Result> {
    if (release.spec?.suspend === true) {
      await suspendBundle(release, signal);
      const status = suspendedStatus(release, statuses.current(release));
      if (status !== undefined) statuses.publish(release, status);
      return done();
    }
    const invalid =
      validate(release, deps.options) ?? nameTaken(helmReleaseBundles, deps.bundles, release);
    if (invalid !== undefined) return reject(release, invalid, { isRejected: true });
    const placement = placementOf(release);
    if (placement instanceof AppError || release.spec === undefined) return done();
    await keepChart(release, signal);
    const chart = findChart(deps, release);
    if ("reason" in chart) {
      publish(release, { problem: chart });
      return done();
    }
    const unshared = await sharingProblemOf(release, chart, signal);
    if (unshared !== undefined) {
      reject(release, unshared);
      return requeueAfter(namespaceCheckMs, "its namespace may get other labels");
    }
    const bundle = planBundle(release, release.spec, { chart, placement });
    const judging = policyNamespacesOf(release);
    const used = usedByBundle(bundle);
    const lenders = lendersOf(deps.policies, judging, used);
    const policies = [...policiesIn(deps.policies, judging, deps), ...lenders];
    const violation = violationOf(policies, used, deps.patterns);
    if (violation !== undefined) return reject(release, violation);
    await writeBundle(deps, deps.signer.signed(bundle), signal);
    publish(release, { chart });
    return done();
  }

  async function sharingProblemOf(
    { metadata: { namespace = "" } }: HelmRelease,
    { secretSources = [] }: ReleaseChart,
    signal: AbortSignal,
  ): Promise<AppError | undefined> {
    if (!isShared(namespace, secretSources)) return undefined;
    const found = await rest.get(namespaces, { name: namespace }, { signal });
    return sharingProblem(namespace, found?.metadata.labels ?? {}, secretSources);
  }

  function publish(release: HelmRelease, decision: Omit<Decision, "now">): void {
    const now = formatTimeMs(deps.clock.now());
    statuses.publish(
      release,
      decidedStatus(release, statuses.current(release), { ...decision, now }),
    );
  }

  function reject(
    release: HelmRelease,
    error: AppError,
    options: Pick<Decision, "isRejected"> = {},
  ): Result {
    const { conditions } = statuses.current(release) ?? {};
    recordViolation(deps.events, release, findCondition(conditions, "Accepted"), error);
    const reason = reasons.get(error.code) ?? "Invalid";
    publish(release, { problem: { reason, message: error.message }, ...options });
    return done();
  }

  /**
   * Whether it is suspended is all that the Bundle gets of a HelmRelease that is not reconciled, however the rest of it has
   * changed. Its requests stay open until it is resumed.
   */
  async function suspendBundle(release: HelmRelease, signal: AbortSignal): Promise<void> {
    const bundle = ownBundle(helmReleaseBundles, deps.bundles, release);
    if (bundle !== undefined) await setSuspended(deps, bundle, true, signal);
  }

  /** Creates, changes and deletes the HelmChart that is generated from `spec.chart`. */
  async function keepChart(release: HelmRelease, signal: AbortSignal): Promise<void> {
    const desired = generatedChart(release);
    const earlier = statuses.current(release)?.helmChart;
    const key = desired && keyOf(desired);
    if (earlier !== undefined && earlier !== key) await deleteChart(earlier, release, signal);
    if (desired === undefined || key === undefined) return;
    const { store } = flux.helmCharts;
    const current = store.get(key);
    if (current === undefined) {
      try {
        store.wrote(await rest.create(helmCharts, desired, { signal }));
      } catch (thrown) {
        // Its watch reconciles the HelmRelease again.
        if (!isAlreadyExists(thrown)) throw thrown;
      }
      return;
    }
    const changed = isGeneratedFor(current, release) ? changedChart(current, desired) : undefined;
    if (changed !== undefined)
      store.wrote(await rest.replace<HelmChart>(helmCharts, changed, { signal }));
  }

  async function deleteChart(
    key: ObjectKey,
    release: HelmRelease,
    signal: AbortSignal,
  ): Promise<void> {
    const chart = flux.helmCharts.store.get(key);
    if (chart === undefined || !isGeneratedFor(chart, release)) return;
    const { uid } = chart.metadata;
    await rest.delete(helmCharts, chart.metadata, { ...(uid !== undefined && { uid }), signal });
  }

  /** The finalizer stays until the connected clusters have uninstalled the release. */
  async function finalize(release: HelmRelease, signal: AbortSignal): Promise<Result> {
    const deleting = await deleteBundle(deps, helmReleaseBundles, release, signal);
    if (deleting !== undefined) return deleting;
    const remaining = deps.deployments.byIndex(byBundle, bundleKeyFor(release));
    const isWaiting = remaining.some(
      (deployment) => deps.clusters.get(clusterKeyOf(deployment))?.status?.agent?.connected,
    );
    if (isWaiting && release.spec?.suspend !== true)
      return requeueAfter(uninstallCheckMs, "a cluster that uninstalls it may disconnect");
    recordUninstall(release, remaining);
    const chart = chartSourceOf(release);
    const earlier = statuses.current(release)?.helmChart;
    const own = chart?.isGenerated === true ? keyOf(chart) : undefined;
    for (const each of new Set([own, earlier]))
      if (each !== undefined) await deleteChart(each, release, signal);
    await removeFinalizer(finalizerOptions(signal), release);
    return done();
  }

  function recordUninstall(release: HelmRelease, remaining: readonly BundleDeployment[]): void {
    const status = statuses.current(release);
    const note = uninstalledNote({ ...release, ...(status && { status }) }, remaining);
    if (note === undefined) return;
    const metadata = releaseMetadata(release, notifiedStatus(status, undefined), false);
    deps.events.record(release, { ...note, metadata });
  }

  function finalizerOptions(signal: AbortSignal) {
    const { store } = flux.helmReleases;
    return { rest, resource: helmReleases, store, finalizer: fluxFinalizer, signal };
  }
}
