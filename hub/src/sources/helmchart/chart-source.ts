/** How a chart is resolved in one kind of source. */
import type { HelmChart, HelmChartSpec } from "@flotilla/shared/flux";
import type { Change } from "@flotilla/shared/kube/cache";
import { isSpecChange } from "@flotilla/shared/kube/controller";
import type { Pin } from "@flotilla/shared/source";
import type { FluxCondition } from "../fluxsource/conditions.ts";
import type { ReadSecret } from "../fluxsource/source-controller.ts";
import type { SourceObject } from "../fluxsource/source-status.ts";
import type { Provenance } from "./provenance.ts";

export interface ChartRequest {
  readonly chart: HelmChart;
  readonly spec: HelmChartSpec;
  readonly secret: ReadSecret;
  readonly signal: AbortSignal;
}

export interface ResolvedChart {
  /** The name of the chart, in its Chart.yaml. */
  readonly name: string;
  /** It has the version of the artifact. */
  readonly pin: Pin;
  /** `sha256:` and hex: of the archive or of what it is made from. */
  readonly digest: string;
  /** The address, without secrets. */
  readonly url: string;
  /** The values files that exist, with `ignoreMissingValuesFiles`. */
  readonly valuesFiles?: readonly string[];
  readonly conditions?: readonly FluxCondition[];
  /** The addresses of the repositories that it has dependencies from, where agents fetch them. */
  readonly dependencies?: readonly string[];
  /** The provenance of the pin, beside the name of the chart. */
  readonly provenance?: Provenance;
}

/** Charts of one kind of source. */
export interface ChartFromSource<S extends SourceObject = SourceObject> {
  /** The source that a HelmChart refers to. */
  find(key: string): S | undefined;
  /** The names of the Secrets that its charts are resolved with, in its namespace. */
  secretsOf(source: S): readonly string[];
  /** Identifies the state of the source: another value resolves its charts again. Undefined: it has none yet. */
  revisionOf(source: S): string | undefined;
  addressOf(source: S): string;
  /** Whether charts are resolved in their own interval, because the source has no revision as a whole. */
  isPolled(source: S): boolean;
  /** Throws a SourceError or an AppError. */
  resolve(source: S, request: ChartRequest): Promise<ResolvedChart>;
}

/**
 * Whether a change of a source concerns its charts: it has something else, or is another one. Not each time that it was read,
 * because a source may have thousands of charts.
 */
export function concernsCharts<S extends SourceObject>(
  change: Change<S>,
  revisionOf: (source: S) => string | undefined,
): boolean {
  const { before, after } = change;
  return isSpecChange(change) || (before && revisionOf(before)) !== (after && revisionOf(after));
}
