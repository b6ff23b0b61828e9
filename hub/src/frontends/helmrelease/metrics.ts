/**
 * The metrics of HelmReleases: the same as HelmOps have, under a name of our own, since neither Fleet nor Flux has them. Pure, of the caches.
 */
import type { Bundle } from "@flotilla/shared/api";
import type { HelmRelease } from "@flotilla/shared/flux";
import type { Store } from "@flotilla/shared/kube/cache";
import { appMetrics, ownBundle, type SeriesMetric } from "../../rules/index.ts";
import { sourceOf } from "./view.ts";

/** `bundles`: the status of the release's Bundle counts its objects, and has the version of its chart. */
export function helmReleaseMetrics(
  releases: Pick<Store<HelmRelease>, "list">,
  bundles: Pick<Store<Bundle>, "get">,
): readonly SeriesMetric[] {
  const bundleStatus = (release: HelmRelease) => ownBundle("HelmRelease", bundles, release)?.status;
  return appMetrics({
    prefix: "flotilla_helmrelease",
    list: () => releases.list(),
    labelsOf(release) {
      const { metadata, spec } = release;
      return {
        name: metadata.name,
        namespace: metadata.namespace ?? "",
        source: sourceText(release),
        chart: spec?.chart?.spec.chart ?? spec?.chartRef?.name ?? "",
        version: bundleStatus(release)?.version ?? "",
      };
    },
    countsOf: (release) => ({
      readyClusters: release.status?.summary?.ready,
      desiredReadyClusters: release.status?.summary?.desiredReady,
      resources: bundleStatus(release)?.resourceCounts,
    }),
  });
}

/** `HelmRepository/NAMESPACE/NAME`; "": it names none. */
function sourceText(release: HelmRelease): string {
  const source = sourceOf(release);
  return source === undefined ? "" : `${source.kind}/${source.namespace}/${source.name}`;
}
