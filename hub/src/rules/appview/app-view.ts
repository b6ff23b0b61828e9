/** How the objects of a kind of app are shown: what a front end says to the dashboard. */
import type { Bundle } from "@flotilla/shared/api";
import type { AppKind } from "@flotilla/shared/api/apps";
import type { App, AppDetail, AppRef } from "@flotilla/shared/dashboard";
import type { Informer } from "@flotilla/shared/kube/cache";
import { type KubeObject, keyOf } from "@flotilla/shared/kube/objects";

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

/** The object of an app; undefined also for a Bundle that was made for an app. */
export function appObject(
  views: AppViews,
  { kind, namespace, name }: AppRef,
): KubeObject | undefined {
  const { informer, isApp } = views[kind];
  const object = informer.store.get(keyOf({ namespace, name }));
  return object !== undefined && (isApp?.(object) ?? true) ? object : undefined;
}
