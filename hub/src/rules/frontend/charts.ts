/**
 * The chart references of a release: the (repo, chart, version) of the spec and of each of its targets. Every
 * reference is resolved separately and gets its own pin. Pure.
 */
import type { BundleTarget, HelmOptions } from "@flotilla/shared/api";
import type { PlannedRelease } from "./planned-release.ts";

/** One chart reference of a spec; "" where a field is empty. */
export interface ChartReference {
  readonly repo: string;
  readonly chart: string;
  readonly version: string;
}

/** All distinct references of an object; the first is the object's own. */
export function chartReferences({ spec }: Pick<PlannedRelease, "spec">): readonly ChartReference[] {
  const own = chartReferenceOf(spec.helm ?? {});
  const all = [
    own,
    ...(spec.targets ?? [])
      .filter(mayReferenceChart)
      .map((target) => chartReferenceOf(target.helm ?? {}, own)),
  ];
  return all.filter(
    (chart, index) => all.findIndex((other) => isSameReference(other, chart)) === index,
  );
}

/** The reference in one set of Helm options; empty fields are taken from `base`. */
export function chartReferenceOf(helm: HelmOptions, base?: ChartReference): ChartReference {
  return {
    repo: helm.repo || base?.repo || "",
    chart: helm.chart || base?.chart || "",
    version: helm.version || base?.version || "",
  };
}

/** The entry for a reference, if there is one. */
export function entryFor<T extends ChartReference>(
  entries: readonly T[],
  reference: ChartReference,
): T | undefined {
  return entries.find((entry) => isSameReference(entry, reference));
}

/** Whether a target may reference a chart of its own. */
export function mayReferenceChart(target: BundleTarget): boolean {
  return target.doNotDeploy !== true && target.helm !== undefined && target.helm !== null;
}

function isSameReference(a: ChartReference, b: ChartReference): boolean {
  return a.repo === b.repo && a.chart === b.chart && a.version === b.version;
}
