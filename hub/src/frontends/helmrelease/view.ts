/** How HelmReleases are shown. Pure, of the caches. */
import { type App, sourceKinds } from "@flotilla/shared/dashboard";
import type { HelmRelease } from "@flotilla/shared/flux";
import {
  type AppView,
  appOf,
  chartsOf,
  refOf,
  shownConditions,
  shownPolling,
  type Watched,
} from "../../rules/index.ts";

export function helmReleaseView(informer: Watched<HelmRelease>): AppView<HelmRelease> {
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
    sourceOf,
  };
}

function appOfHelmRelease(release: HelmRelease): App {
  const { metadata, spec, status } = release;
  const source = sourceOf(release);
  return {
    ...appOf("HelmRelease", release, {
      chart: spec?.chart?.spec.chart ?? spec?.chartRef?.name ?? "",
      version: status?.history?.[0]?.chartVersion,
      offline: status?.summary?.offline,
      waitsFor: (spec?.dependsOn ?? []).map(({ namespace, name }) =>
        refOf("HelmRelease", { namespace: namespace || (metadata.namespace ?? ""), name }),
      ),
    }),
    ...(source !== undefined && { source }),
  };
}

/** The source that a HelmRelease names. */
export function sourceOf({ metadata, spec }: HelmRelease): App["source"] {
  const ref = spec?.chart?.spec.sourceRef ?? spec?.chartRef;
  const kind = sourceKinds.find((each) => each === ref?.kind);
  if (ref === undefined || kind === undefined) return undefined;
  return { kind, namespace: ref.namespace ?? metadata.namespace ?? "", name: ref.name };
}
