/** HelmRelease as a front end: its chart is what a HelmChart or an OCIRepository has, and a HelmChart is generated for `spec.chart`. */

import type { BundleDeployment, Cluster } from "@flotilla/shared/api";
import { AppError } from "@flotilla/shared/errors";
import { type HelmRelease, type HelmReleaseStatus, helmReleases } from "@flotilla/shared/flux";
import { fluxReason } from "@flotilla/shared/flux/reasons";
import type { Store } from "@flotilla/shared/kube/cache";
import { requeueAfter } from "@flotilla/shared/kube/controller";
import type { EventRecorder } from "@flotilla/shared/kube/events";
import { namespaces } from "@flotilla/shared/kube/objects";
import {
  byBundle,
  clusterKeyOf,
  type FluxInformers,
  hubErrors,
  type Publisher,
} from "../../base/index.ts";
import { releaseMetadata } from "../../events/index.ts";
import type { Compiled, FrontEnd } from "../lifecycle/front-end.ts";
import type { ReleaseChart } from "./chart.ts";
import { decidedStatus, type HelmReleaseDecision, suspendedStatus } from "./decided-status.ts";
import { destinationOf } from "./destination.ts";
import { type FindChartDeps, findChart } from "./find-chart.ts";
import { deleteCharts, type GeneratedChartDeps, keepChart } from "./generated-chart.ts";
import { notifiedStatus } from "./notified-status.ts";
import { bundleKeyFor, planRelease } from "./plan.ts";
import { isShared, sharingProblem } from "./shared-sources.ts";
import { uninstalledNote } from "./uninstall.ts";
import { type ValidationOptions, validate } from "./validate.ts";

export interface HelmReleaseDeps extends FindChartDeps, GeneratedChartDeps {
  readonly flux: FindChartDeps["flux"] &
    GeneratedChartDeps["flux"] & {
      readonly helmReleases: Pick<FluxInformers["helmReleases"], "store">;
    };
  readonly deployments: Store<BundleDeployment>;
  readonly clusters: Store<Cluster>;
  readonly statuses: Pick<Publisher<HelmReleaseStatus, HelmRelease>, "current" | "publish">;
  readonly events: EventRecorder;
  readonly options: ValidationOptions;
}

/** The labels of namespaces are not watched. */
const namespaceCheckMs = 60_000;

/** Flux's reasons of errors of the hub. */
const reasons: ReadonlyMap<string, string> = new Map([
  [hubErrors.ACCESS_DENIED.code, fluxReason.accessDenied],
  [hubErrors.HELMRELEASE_INVALID.code, "Invalid"],
  [hubErrors.POLICY_VIOLATION.code, "PolicyViolation"],
  [hubErrors.BUNDLE_NAME_TAKEN.code, "NameTaken"],
]);

export function helmReleaseFrontEnd(
  deps: HelmReleaseDeps,
): FrontEnd<HelmRelease, HelmReleaseStatus, HelmReleaseDecision> {
  const { rest, statuses } = deps;
  async function compile(
    release: HelmRelease,
    status: HelmReleaseStatus | undefined,
    signal: AbortSignal,
  ): Promise<Compiled<HelmReleaseDecision>> {
    const destination = destinationOf(release);
    if (destination instanceof AppError) return { kind: "refused", error: destination };
    await keepChart(deps, release, status?.helmChart, signal);
    const chart = findChart(deps, release);
    if ("reason" in chart) return { kind: "waiting", decision: { problem: chart } };
    const unshared = await sharingProblemOf(release, chart, signal);
    if (unshared !== undefined) {
      const result = requeueAfter(namespaceCheckMs, "its namespace may get other labels");
      return { kind: "refused", error: unshared, result };
    }
    const planned = planRelease(release, { chart, destination });
    return { kind: "resolved", release: planned, decision: { chart } };
  }

  async function sharingProblemOf(
    { metadata: { namespace = "" } }: HelmRelease,
    { secretSources = [] }: ReleaseChart,
    signal: AbortSignal,
  ): Promise<AppError | undefined> {
    if (!isShared(namespace, secretSources)) return undefined;
    const own = await rest.get(namespaces, { name: namespace }, { signal });
    return sharingProblem(namespace, own?.metadata.labels ?? {}, secretSources);
  }

  function deploymentsOf(release: HelmRelease): readonly BundleDeployment[] {
    return deps.deployments.byIndex(byBundle, bundleKeyFor(release));
  }

  function recordUninstall(release: HelmRelease): void {
    const status = statuses.current(release);
    const note = uninstalledNote({ ...release, ...(status && { status }) }, deploymentsOf(release));
    if (note === undefined) return;
    const metadata = releaseMetadata(release, notifiedStatus(status, undefined), false);
    deps.events.record(release, { ...note, metadata });
  }

  return {
    kind: "HelmRelease",
    resource: helmReleases,
    store: deps.flux.helmReleases.store,
    statuses,
    isSuspended: ({ spec }) => spec?.suspend === true,
    createsObjects: true,
    validate: (release) => validate(release, deps.options),
    compile: (release, status, { signal }) => compile(release, status, signal),
    decided: (release, status, decision, now) =>
      decidedStatus(release, status, { ...decision, now }),
    rejected(release, status, { error, isInvalid, now }) {
      const reason = reasons.get(error.code) ?? "Invalid";
      const problem = { reason, message: error.message };
      return decidedStatus(release, status, { problem, isRejected: isInvalid, now });
    },
    suspended: suspendedStatus,
    isUninstalling: (release) =>
      deploymentsOf(release).some(
        (deployment) => deps.clusters.get(clusterKeyOf(deployment))?.status?.agent?.connected,
      ),
    async cleanUp(release, signal) {
      recordUninstall(release);
      await deleteCharts(deps, release, statuses.current(release)?.helmChart, signal);
    },
  };
}
