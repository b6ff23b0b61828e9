/** The front ends of the hub: to add a kind, list it here. */
import type { AppKind } from "@flotilla/shared/api/apps";
import { bundleView } from "../applied/index.ts";
import type { AppViews, Watched } from "../appview/index.ts";
import type { AppObjects } from "../cache/index.ts";
import { type HelmOpRunDeps, helmOpView, runHelmOps } from "../helmop/index.ts";
import { type HelmReleaseRunDeps, helmReleaseView, runHelmReleases } from "../helmrelease/index.ts";
import type { RunningFrontEnd } from "../lifecycle/index.ts";

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
