/**
 * The chart references of a HelmOp-like spec: which (repo, chart, version) it and each of its targets ask for. Every
 * reference is resolved on its own and gets a pin of its own. Pure.
 */
import type { BundleTarget } from "@flotilla/shared/api/bundle-target.ts";
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";
import type { HelmOptions } from "@flotilla/shared/api/helm-options.ts";

/** One chart as a spec asks for it; "" where a field is empty. */
export interface WantedChart {
  readonly repo: string;
  readonly chart: string;
  readonly version: string;
}

/** All distinct references of an object; the first is that of the object itself. */
export function wantedCharts({ spec }: Pick<HelmOp, "spec">): readonly WantedChart[] {
  const own = wantedBy(spec.helm ?? {});
  const all = [
    own,
    ...(spec.targets ?? []).filter(deploys).map((target) => wantedBy(target.helm ?? {}, own)),
  ];
  return all.filter(
    (chart, index) => all.findIndex((other) => isSameChart(other, chart)) === index,
  );
}

/** The reference in one set of Helm options; empty fields are taken from `base`. */
export function wantedBy(helm: HelmOptions, base?: WantedChart): WantedChart {
  return {
    repo: helm.repo || base?.repo || "",
    chart: helm.chart || base?.chart || "",
    version: helm.version || base?.version || "",
  };
}

/** The entry for a reference, if there is one. */
export function entryFor<T extends WantedChart>(
  entries: readonly T[],
  wanted: WantedChart,
): T | undefined {
  return entries.find((entry) => isSameChart(entry, wanted));
}

/** Whether a target may reference a chart of its own. */
export function deploys(target: BundleTarget): boolean {
  return target.doNotDeploy !== true && target.helm !== undefined && target.helm !== null;
}

function isSameChart(a: WantedChart, b: WantedChart): boolean {
  return a.repo === b.repo && a.chart === b.chart && a.version === b.version;
}
