/** The caches of apps by kind, for code that treats all kinds alike. */
import type { Bundle, HelmOp } from "@flotilla/shared/api";
import type { AppKind } from "@flotilla/shared/api/apps";
import type { HelmRelease } from "@flotilla/shared/flux";
import type { Informer } from "@flotilla/shared/kube/cache";
import type { Caches } from "./caches.ts";
import type { FluxInformers } from "./flux-caches.ts";

/** The type of the objects of each kind. */
export interface AppObjects {
  readonly HelmOp: HelmOp;
  readonly HelmRelease: HelmRelease;
  readonly Bundle: Bundle;
}

export type AppInformers = { readonly [K in AppKind]: Informer<AppObjects[K]> };

export function appInformers(
  { helmOps, bundles }: Pick<Caches, "helmOps" | "bundles">,
  { helmReleases }: Pick<FluxInformers, "helmReleases">,
): AppInformers {
  return { HelmOp: helmOps, HelmRelease: helmReleases, Bundle: bundles };
}
