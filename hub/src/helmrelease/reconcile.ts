/** HelmRelease to Bundle: validates, keeps the generated HelmChart, and keeps the Bundle as planned. */
import { isDeepStrictEqual } from "node:util";
import {
  type Bundle,
  type BundleDeployment,
  bundles,
  type Cluster,
  type Policy,
} from "@flotilla/shared/api";
import { fluxFinalizer, helmReleaseLabel } from "@flotilla/shared/api/names";
import { AppError } from "@flotilla/shared/errors";
import {
  type HelmChart,
  type HelmRelease,
  type HelmReleaseStatus,
  helmCharts,
  helmReleases,
} from "@flotilla/shared/flux";
import { byNamespace, type Store } from "@flotilla/shared/kube/cache";
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
import { keyOf, type ObjectKey, refOf } from "@flotilla/shared/kube/objects";
import type { Patterns } from "@flotilla/shared/regex";
import { type Clock, formatTimeMs } from "@flotilla/shared/time";
import { byBundle, clusterKeyOf } from "../cache/index.ts";
import { hubErrors } from "../errors/index.ts";
import { asHelmOp } from "../frontend/index.ts";
import { releaseMetadata } from "../notification/index.ts";
import { mergePolicies, violationOf } from "../policy/index.ts";
import type { PinSigner } from "../resolve/index.ts";
import type { Publisher } from "../status/index.ts";
import { changedChart, chartSourceOf, generatedChart, isGeneratedFor } from "./chart.ts";
import { decidedStatus } from "./decided-status.ts";
import { type FindChartDeps, findChart } from "./find-chart.ts";
import { notifiedStatus } from "./notified-status.ts";
import { placementOf } from "./placement.ts";
import { bundleKeyFor, planBundle } from "./plan.ts";
import { uninstalledNote } from "./uninstall.ts";
import { type ValidationOptions, validate } from "./validate.ts";

export interface HelmReleaseDeps extends FindChartDeps {
  readonly rest: KubeRest;
  readonly bundles: Store<Bundle>;
  readonly deployments: Store<BundleDeployment>;
  readonly clusters: Store<Cluster>;
  readonly policies: Store<Policy>;
  readonly patterns: Patterns;
  readonly signer: PinSigner;
  readonly statuses: Pick<
    Publisher<HelmReleaseStatus, HelmRelease>,
    "current" | "publish" | "refresh"
  >;
  readonly events: EventRecorder;
  readonly clock: Pick<Clock, "now">;
  readonly options: ValidationOptions;
}

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
      return done();
    }
    const invalid = validate(release, deps.options) ?? nameTaken(release);
    if (invalid !== undefined) return reject(release, invalid);
    const placement = placementOf(release);
    if (placement instanceof AppError || release.spec === undefined) return done();
    await keepChart(release, signal);
    const chart = findChart(deps, release);
    if ("reason" in chart) {
      publish(release, { problem: chart });
      return done();
    }
    const bundle = planBundle(release, release.spec, { chart, placement });
    const namespaces = [release.metadata.namespace ?? "", placement.clusterNamespace ?? ""];
    const policy = mergePolicies(
      [...new Set(namespaces)].flatMap((each) => deps.policies.byIndex(byNamespace, each)),
    );
    const violation = violationOf(policy, asHelmOp(bundle), deps.patterns);
    if (violation !== undefined) return reject(release, violation);
    await writeBundle(bundle, signal);
    publish(release, { chart });
    return done();
  }

  function publish(
    release: HelmRelease,
    decision: Omit<Parameters<typeof decidedStatus>[2], "now">,
  ): void {
    const now = formatTimeMs(deps.clock.now());
    statuses.publish(
      release,
      decidedStatus(release, statuses.current(release), { ...decision, now }),
    );
  }

  function reject(release: HelmRelease, error: AppError): Result {
    const reason = reasons.get(error.code) ?? "Invalid";
    publish(release, { problem: { reason, message: error.message } });
    return done();
  }

  /** Another Bundle of this name is left alone. */
  function nameTaken(release: HelmRelease): AppError | undefined {
    const bundle = deps.bundles.get(bundleKeyFor(release));
    if (bundle === undefined || isBundleOf(bundle)) return undefined;
    const { namespace, name } = bundle.metadata;
    return new AppError(
      hubErrors.BUNDLE_NAME_TAKEN,
      `a Bundle ${namespace}/${name} exists already that was not made for this HelmRelease; delete that Bundle, or create the HelmRelease under another name`,
    );
  }

  async function writeBundle(planned: Bundle, signal: AbortSignal): Promise<void> {
    const desired = deps.signer.signed(planned);
    const current = deps.bundles.get(keyOf(desired));
    if (current === undefined) {
      deps.bundles.wrote(await rest.create(bundles, desired, { signal }));
      return;
    }
    if (current.metadata.deletionTimestamp !== undefined) return;
    const { labels = {} } = desired.metadata;
    // Others may have annotations of their own on it.
    const annotations = { ...current.metadata.annotations, ...desired.metadata.annotations };
    if (
      isDeepStrictEqual(current.spec, desired.spec) &&
      isDeepStrictEqual(current.metadata.labels, labels) &&
      isDeepStrictEqual(current.metadata.annotations ?? {}, annotations)
    )
      return;
    const metadata = { ...current.metadata, labels, annotations };
    const next = { ...current, metadata, spec: desired.spec };
    deps.bundles.wrote(await rest.replace(bundles, next, { signal }));
  }

  /**
   * Whether it is suspended is all that the Bundle gets of a HelmRelease that is not reconciled, however the rest of it has
   * changed. Its requests stay open until it is resumed.
   */
  async function suspendBundle(release: HelmRelease, signal: AbortSignal): Promise<void> {
    const bundle = deps.bundles.get(bundleKeyFor(release));
    const isSuspended = release.spec?.suspend === true;
    if (bundle === undefined || !isBundleOf(bundle)) return;
    if ((bundle.spec.suspend === true) === isSuspended) return;
    // What somebody else has changed in it does not get a signature.
    const isOurs = deps.signer.pinsOf(bundle) !== undefined;
    const changed = { ...bundle, spec: { ...bundle.spec, suspend: isSuspended } };
    const next = isOurs ? deps.signer.signed(changed) : changed;
    deps.bundles.wrote(await rest.replace(bundles, next, { signal }));
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
    const key = bundleKeyFor(release);
    const known = deps.bundles.get(key);
    const bundle = known ?? (await rest.get(bundles, refOf(key), { signal }));
    if (bundle !== undefined && isBundleOf(bundle)) {
      const { deletionTimestamp, uid } = bundle.metadata;
      if (deletionTimestamp === undefined) {
        await suspendBundle(release, signal);
        await rest.delete(bundles, bundle.metadata, { ...(uid !== undefined && { uid }), signal });
      }
      return known === undefined ? requeueAfter(1_000, "the Bundle is being deleted") : done();
    }
    const remaining = deps.deployments.byIndex(byBundle, key);
    const isWaiting = remaining.some(
      (deployment) => deps.clusters.get(clusterKeyOf(deployment))?.status?.agent?.connected,
    );
    if (isWaiting && release.spec?.suspend !== true) return done();
    recordUninstall(release, remaining);
    const chart = chartSourceOf(release);
    if (chart?.isGenerated === true) await deleteChart(keyOf(chart), release, signal);
    await removeFinalizer(finalizerOptions(signal), release);
    return done();
  }

  function recordUninstall(release: HelmRelease, remaining: readonly BundleDeployment[]): void {
    const status = statuses.current(release);
    const note = uninstalledNote({ ...release, ...(status && { status }) }, remaining);
    if (note === undefined) return;
    const metadata = releaseMetadata(release, notifiedStatus(status), false);
    deps.events.record(release, { ...note, metadata });
  }

  function finalizerOptions(signal: AbortSignal) {
    const { store } = flux.helmReleases;
    return { rest, resource: helmReleases, store, finalizer: fluxFinalizer, signal };
  }
}

/** Whether a Bundle was made for a HelmRelease, which its name is derived from. */
export function isBundleOf(bundle: Bundle): boolean {
  return bundle.metadata.labels?.[helmReleaseLabel] !== undefined;
}
