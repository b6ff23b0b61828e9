/** The chart of a HelmRelease: which source it refers to, and what that source has. Pure. */
import { isDeepStrictEqual } from "node:util";
import type { SourceAccess, SourceProvenance } from "@flotilla/shared/api";
import { fluxOwnerLabels } from "@flotilla/shared/api/names";
import { type HelmChart, type HelmRelease, helmCharts } from "@flotilla/shared/flux";
import { apiVersionOf, keyOf, type ObjectKey, type ObjectRef } from "@flotilla/shared/kube/objects";
import { type Pin, pinnedVersion } from "@flotilla/shared/source";

import type { SecretSource } from "./shared-sources.ts";

export interface ChartSourceRef extends Required<ObjectRef> {
  readonly kind: "HelmChart" | "OCIRepository";
  /** The HelmChart is generated from the HelmRelease. */
  readonly isGenerated: boolean;
}

/** What a source of charts has now. */
export interface ReleaseChart {
  /** As in Bundle.spec.helm: its pin is found by it. */
  readonly repo: string;
  readonly chart: string;
  readonly pin: Pin;
  /** Absent: an earlier version resolved the pin. */
  readonly provenance?: readonly SourceProvenance[] | undefined;
  readonly access: SourceAccess;
  readonly included?: readonly SourceAccess[] | undefined;
  /** Access to the repositories that the chart has dependencies from, where access to them needs anything. */
  readonly dependencies?: readonly SourceAccess[] | undefined;
  /** The addresses of all of them. */
  readonly repositories?: readonly string[] | undefined;
  /** All that it is accessed with Secrets of. */
  readonly secretSources?: readonly SecretSource[];
}

/** The labels of Flux for everything that is made for a HelmRelease. */
export function ownerLabelsOf({ metadata }: HelmRelease): Readonly<Record<string, string>> {
  return {
    [fluxOwnerLabels.name]: metadata.name,
    [fluxOwnerLabels.namespace]: metadata.namespace ?? "",
  };
}

/** Undefined for a HelmRelease without a chart. */
export function chartSourceOf({ metadata, spec }: HelmRelease): ChartSourceRef | undefined {
  const { namespace = "", name } = metadata;
  const { chart, chartRef } = spec ?? {};
  if (chart !== undefined) {
    return {
      kind: "HelmChart",
      namespace: chart.spec.sourceRef.namespace ?? namespace,
      name: `${namespace}-${name}`,
      isGenerated: true,
    };
  }
  if (chartRef === undefined || chartRef.kind === "ExternalArtifact") return undefined;
  return {
    kind: chartRef.kind,
    namespace: chartRef.namespace ?? namespace,
    name: chartRef.name,
    isGenerated: false,
  };
}

/** The HelmChart that is generated from `spec.chart`. */
export function generatedChart(release: HelmRelease): HelmChart | undefined {
  const { chart, interval = "" } = release.spec ?? {};
  const ref = chartSourceOf(release);
  if (chart === undefined || ref === undefined) return undefined;
  const { sourceRef, ...spec } = chart.spec;
  const { namespace: _, ...source } = sourceRef;
  return {
    apiVersion: apiVersionOf(helmCharts),
    kind: "HelmChart",
    metadata: {
      namespace: ref.namespace,
      name: ref.name,
      labels: { ...chart.metadata?.labels, ...ownerLabelsOf(release) },
      ...(chart.metadata?.annotations && { annotations: chart.metadata.annotations }),
    },
    spec: { ...spec, sourceRef: source, interval: spec.interval ?? interval },
  };
}

/** Whether a HelmChart was generated for this HelmRelease. */
export function isGeneratedFor({ metadata }: HelmChart, release: HelmRelease): boolean {
  return isDeepStrictEqual(
    {
      name: metadata.labels?.[fluxOwnerLabels.name],
      namespace: metadata.labels?.[fluxOwnerLabels.namespace],
    },
    { name: release.metadata.name, namespace: release.metadata.namespace },
  );
}

/** The HelmChart as it is to be; undefined when it is so already. Others may have labels and annotations of their own on it. */
export function changedChart(current: HelmChart, desired: HelmChart): HelmChart | undefined {
  const labels = { ...current.metadata.labels, ...desired.metadata.labels };
  const annotations = { ...current.metadata.annotations, ...desired.metadata.annotations };
  // The API server has filled in defaults.
  const spec = { ...desired.spec };
  const isSame =
    isDeepStrictEqual(current.spec, spec) &&
    isDeepStrictEqual(current.metadata.labels ?? {}, labels) &&
    isDeepStrictEqual(current.metadata.annotations ?? {}, annotations);
  if (isSame || desired.spec === undefined) return undefined;
  return {
    ...current,
    metadata: { ...current.metadata, labels, annotations },
    spec: desired.spec,
  };
}

/** `namespace/name`, as in `status.helmChart`. */
export function chartKey({ namespace, name }: Required<ObjectRef>): ObjectKey {
  return keyOf({ namespace, name });
}

export function chartVersion({ pin }: ReleaseChart): string {
  return pinnedVersion(pin);
}
