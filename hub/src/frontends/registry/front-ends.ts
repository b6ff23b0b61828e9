/** The front ends of the hub: to add a kind, list it here. */
import { type AppKind, type FrontEndKind, frontEndKinds } from "@flotilla/shared/api/apps";
import type { Store } from "@flotilla/shared/kube/cache";
import type { AppObjects } from "../../base/index.ts";
import type { AppViews, SeriesMetric, Watched } from "../../rules/index.ts";
import { bundleView } from "../applied/view.ts";
import { helmOpMetrics } from "../helmop/metrics.ts";
import { type HelmOpRunDeps, runHelmOps } from "../helmop/run.ts";
import { helmOpView } from "../helmop/view.ts";
import { helmReleaseMetrics } from "../helmrelease/metrics.ts";
import { type HelmReleaseRunDeps, runHelmReleases } from "../helmrelease/run.ts";
import { helmReleaseView } from "../helmrelease/view.ts";
import type { RunningFrontEnd } from "../lifecycle/running.ts";

export interface FrontEndDeps extends HelmOpRunDeps {
  /** Flux's kinds; absent in tests that have none. */
  readonly fluxFrontEnd?: Pick<HelmReleaseRunDeps, "flux" | "options" | "durations"> | undefined;
}

/** As the leader runs them. */
export function runFrontEnds(deps: FrontEndDeps): readonly RunningFrontEnd[] {
  const { fluxFrontEnd: flux } = deps;
  return [runHelmOps(deps), ...(flux === undefined ? [] : [runHelmReleases({ ...deps, ...flux })])];
}

/** The caches of all kinds of app. */
export type WatchedApps = { readonly [K in AppKind]: Watched<AppObjects[K]> };

/** As the dashboard shows them. */
export function createAppViews(apps: WatchedApps): AppViews {
  return {
    HelmOp: helmOpView(apps.HelmOp),
    HelmRelease: helmReleaseView(apps.HelmRelease),
    Bundle: bundleView(apps.Bundle),
  };
}

/** The objects that the metrics of apps count. */
type CountedStores = {
  readonly [K in FrontEndKind]: Pick<Store<AppObjects[K]>, "list">;
} & { readonly Bundle: Pick<Store<AppObjects["Bundle"]>, "get"> };

/** The metrics of all kinds. Bundles have their own for whatever they were made (`statusMetrics`). */
export function metricsOfApps(stores: CountedStores): readonly SeriesMetric[] {
  const metrics: Readonly<Record<FrontEndKind, readonly SeriesMetric[]>> = {
    HelmOp: helmOpMetrics(stores.HelmOp),
    HelmRelease: helmReleaseMetrics(stores.HelmRelease, stores.Bundle),
  };
  return frontEndKinds.flatMap((kind) => metrics[kind]);
}
