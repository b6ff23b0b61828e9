/** The version of a chart in a tree of files, as Flux's HelmCharts have it. Pure. */
import type { HelmChart, HelmChartSpec } from "@flotilla/shared/flux";
import { parseVersion } from "@flotilla/shared/version";
import { parseHelmYaml } from "@flotilla/shared/yaml";
import { z } from "zod";
import { SourceError } from "../fluxsource/index.ts";

const chartSchema = z.object({ name: z.string().min(1), version: z.string().min(1) });

/** Throws a SourceError. `path`: for the message. */
export function parseChart(
  text: string,
  path: string,
): { readonly name: string; readonly version: string } {
  try {
    const chart = chartSchema.parse(parseHelmYaml(text, { name: path }));
    if (parseVersion(chart.version) !== undefined) return chart;
  } catch {
    // Refused below.
  }
  throw invalidChart(`${path} is not the Chart.yaml of a chart with a name and a version`);
}

/**
 * The version of the chart that is made. `hash`: of the source, in hex. With the strategy Revision it ends in the first digits of
 * the source, and with values files of its own in the generation of the HelmChart.
 */
export function builtVersion(
  version: string,
  hash: string,
  { metadata }: Pick<HelmChart, "metadata">,
  { reconcileStrategy, valuesFiles = [] }: Pick<HelmChartSpec, "reconcileStrategy" | "valuesFiles">,
): string {
  const hasOwnValues =
    valuesFiles.length > 0 && !(valuesFiles.length === 1 && valuesFiles[0] === "values.yaml");
  const parts = [
    ...(reconcileStrategy === "Revision" ? [hash.slice(0, 12)] : []),
    ...(hasOwnValues ? [String(metadata.generation ?? 0)] : []),
  ];
  return parts.length === 0 ? version : `${version.replace(/\+.*/, "")}+${parts.join(".")}`;
}

export function invalidChart(message: string): SourceError {
  return new SourceError("InvalidChartReference", message, { stalls: true });
}
