/** Keeps the HelmChart that is generated from `spec.chart` of a HelmRelease. */
import { type HelmChart, type HelmRelease, helmCharts } from "@flotilla/shared/flux";
import { isAlreadyExists, type KubeRest } from "@flotilla/shared/kube/client";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/objects";
import type { FluxInformers } from "../../base/index.ts";
import { changedChart, chartSourceOf, generatedChart, isGeneratedFor } from "./chart.ts";

export interface GeneratedChartDeps {
  readonly rest: KubeRest;
  readonly flux: { readonly helmCharts: Pick<FluxInformers["helmCharts"], "store"> };
}

/** Creates, changes and deletes it. `earlier`: the key of the one that the HelmRelease had last. */
export async function keepChart(
  { rest, flux }: GeneratedChartDeps,
  release: HelmRelease,
  earlier: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const desired = generatedChart(release);
  const key = desired && keyOf(desired);
  if (earlier !== undefined && earlier !== key)
    await deleteChart({ rest, flux }, earlier, release, signal);
  if (desired === undefined || key === undefined) return;
  const { store } = flux.helmCharts;
  const current = store.get(key);
  if (current === undefined) {
    try {
      store.wrote(await rest.create(helmCharts, desired, { signal }));
    } catch (thrown) {
      // Its watch reconciles the HelmRelease again.
      if (!isAlreadyExists(thrown)) throw thrown;
    }
    return;
  }
  const changed = isGeneratedFor(current, release) ? changedChart(current, desired) : undefined;
  if (changed !== undefined)
    store.wrote(await rest.replace<HelmChart>(helmCharts, changed, { signal }));
}

/** Deletes all that were generated for a HelmRelease. */
export async function deleteCharts(
  deps: GeneratedChartDeps,
  release: HelmRelease,
  earlier: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const chart = chartSourceOf(release);
  const own = chart?.isGenerated === true ? keyOf(chart) : undefined;
  for (const each of new Set([own, earlier]))
    if (each !== undefined) await deleteChart(deps, each, release, signal);
}

async function deleteChart(
  { rest, flux }: GeneratedChartDeps,
  key: ObjectKey,
  release: HelmRelease,
  signal: AbortSignal,
): Promise<void> {
  const chart = flux.helmCharts.store.get(key);
  if (chart === undefined || !isGeneratedFor(chart, release)) return;
  const { uid } = chart.metadata;
  await rest.delete(helmCharts, chart.metadata, { ...(uid !== undefined && { uid }), signal });
}
