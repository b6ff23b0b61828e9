/** How the objects of each kind of app are shown: one entry for each front end, and one for Bundles without one. */
import type { Bundle, ChartPin, HelmOp } from "@flotilla/shared/api";
import type { AppKind } from "@flotilla/shared/api/apps";
import type { App, AppDetail, AppRef } from "@flotilla/shared/dashboard";
import type { HelmRelease } from "@flotilla/shared/flux";
import type { Informer } from "@flotilla/shared/kube/cache";
import { type KubeObject, keyOf } from "@flotilla/shared/kube/objects";
import { archiveDigest, pinAddress, pinnedVersion } from "@flotilla/shared/source";
import type { AppObjects } from "../cache/index.ts";
import { releaseOfHelmOp } from "../frontend/index.ts";
import { pollingIntervalMs } from "../resolve/index.ts";
import { appOfBundle, appOfHelmOp, appOfHelmRelease, appRefOf, sourceOfRelease } from "./app-of.ts";
import { shownConditions, shownPolling } from "./conditions.ts";

export type Watched<T extends KubeObject> = Pick<Informer<T>, "store" | "onChange">;

/** The part of the page of an app that differs by kind. */
type KindDetails = Pick<AppDetail, "conditions" | "charts" | "polling">;

/** The targets of an app, and the options by which clusters are chosen. */
type TargetSpec = Bundle["spec"];

/** The functions take objects of `informer` alone, which is what makes it safe to treat all kinds alike (`AppViews`). */
export interface AppView<T extends KubeObject> {
  readonly informer: Watched<T>;
  /** Whether the object is an app itself; absent: each one is. */
  isApp?(object: T): boolean;
  appOf(object: T): App;
  /** `bundle`: the one that was made for the object. */
  detailsOf(object: T, bundle: Bundle | undefined): KindDetails;
  /** Where it goes as long as it has no Bundle; absent: that is not known before. */
  targetsOf?(object: T): TargetSpec;
  /** The source of Flux that it names; absent: it names none. */
  sourceOf?(object: T): App["source"];
  /** Whether its source is polled; absent: none is. */
  isPolled?(object: T): boolean;
}

export type AppViews = Readonly<Record<AppKind, AppView<KubeObject>>>;

/** The caches of all kinds of app. */
export type WatchedApps = { readonly [K in AppKind]: Watched<AppObjects[K]> };

export function createAppViews(apps: WatchedApps): AppViews {
  return {
    HelmOp: helmOpView(apps.HelmOp),
    HelmRelease: helmReleaseView(apps.HelmRelease),
    Bundle: bundleView(apps.Bundle),
  };
}

/** The object of an app; undefined also for a Bundle that was made for an app. */
export function appObject(
  views: AppViews,
  { kind, namespace, name }: AppRef,
): KubeObject | undefined {
  const { informer, isApp } = views[kind];
  const object = informer.store.get(keyOf({ namespace, name }));
  return object !== undefined && (isApp?.(object) ?? true) ? object : undefined;
}

function helmOpView(informer: Watched<HelmOp>): AppView<HelmOp> {
  const isPolled = (helmOp: HelmOp) => pollingIntervalMs(releaseOfHelmOp(helmOp)) !== undefined;
  return {
    informer,
    appOf: appOfHelmOp,
    detailsOf(helmOp) {
      const { pins, polling, lastPollingTriggered, conditions } = helmOp.status ?? {};
      const interval = isPolled(helmOp) ? (helmOp.spec.pollingInterval ?? undefined) : undefined;
      const { repo, chart, version } = helmOp.spec.helm ?? {};
      const desired = { repo: repo ?? "", chart: chart ?? "", constraint: version ?? "" };
      return {
        conditions: shownConditions(conditions),
        charts: chartsOf(pins, desired),
        polling: shownPolling(interval, polling, lastPollingTriggered ?? undefined),
      };
    },
    targetsOf: ({ spec }) => spec,
    isPolled,
  };
}

function helmReleaseView(informer: Watched<HelmRelease>): AppView<HelmRelease> {
  return {
    informer,
    appOf: appOfHelmRelease,
    detailsOf(release, bundle) {
      const { chart, version } = release.spec?.chart?.spec ?? {};
      const desired =
        chart === undefined ? undefined : { repo: "", chart, constraint: version ?? "" };
      return {
        conditions: shownConditions(release.status?.conditions),
        // Its Bundle has the resolved version in place of the constraint.
        charts: chartsOf(bundle?.spec.helmOpOptions?.pins, desired).map((found) => ({
          ...found,
          ...(desired !== undefined && { constraint: desired.constraint }),
        })),
        polling: shownPolling(undefined, undefined, undefined),
      };
    },
    sourceOf: (release) => sourceOfRelease(release).source,
  };
}

function bundleView(informer: Watched<Bundle>): AppView<Bundle> {
  return {
    informer,
    isApp: (bundle) => appRefOf(bundle).kind === "Bundle",
    appOf: appOfBundle,
    detailsOf: ({ status }) => ({
      conditions: shownConditions(status?.conditions),
      charts: chartsOf(status?.pins),
      polling: shownPolling(undefined, status?.resolution, undefined),
    }),
  };
}

type Chart = AppDetail["charts"][number];

/** `desired`: what is shown before it is resolved. */
function chartsOf(pins: readonly ChartPin[] = [], desired?: Chart): Chart[] {
  if (pins.length > 0) return pins.map(chartOf);
  return desired === undefined ? [] : [desired];
}

function chartOf({ repo, chart, version, pin, note }: ChartPin): Chart {
  const digest = archiveDigest(pin);
  const resolved = pinnedVersion(pin);
  return {
    repo,
    chart,
    constraint: version,
    ...(resolved !== "" && { version: resolved }),
    url: pinAddress(pin),
    ...(digest !== undefined && { digest }),
    ...(note && { note }),
  };
}
