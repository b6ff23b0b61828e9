/** The controller of HelmCharts: resolves a chart of a source to a pin whenever the source or the HelmChart changes. */

import { type HelmChart, type HelmChartSpec, helmCharts } from "@flotilla/shared/flux";
import { fluxReason, fluxType } from "@flotilla/shared/flux/reasons";
import { defineIndex } from "@flotilla/shared/kube/cache";
import { type Watch, watch } from "@flotilla/shared/kube/controller";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/objects";
import { pinnedVersion } from "@flotilla/shared/source";
import type { FluxInformers } from "../../base/index.ts";
import type { PinSigner } from "../../rules/index.ts";
import {
  createSourceController,
  type SourceController,
  type SourceControllerDeps,
} from "../fluxsource/source-controller.ts";
import { noSourceArtifact, SourceError } from "../fluxsource/source-error.ts";
import type { SourceObject } from "../fluxsource/source-status.ts";
import { chartArtifact, pinOfArtifact } from "./artifact.ts";
import { type ChartFromSource, concernsCharts } from "./chart-source.ts";
import { lacksProvenance } from "./provenance.ts";
import { rejectManyValuesFiles } from "./tree-chart.ts";

type ChartSourceKind = HelmChartSpec["sourceRef"]["kind"];

/** The charts of each kind of source. */
export type ChartSources = Readonly<Partial<Record<ChartSourceKind, ChartFromSource>>>;

export interface HelmChartDeps extends SourceControllerDeps {
  readonly flux: Pick<
    FluxInformers,
    "helmCharts" | "helmRepositories" | "gitRepositories" | "buckets"
  >;
  readonly sources: ChartSources;
  readonly signer: Pick<PinSigner, "sign" | "isSigned">;
}

/** HelmCharts by the source that they refer to. */
const bySource = defineIndex<HelmChart>("source", ({ metadata, spec }) =>
  spec === undefined
    ? []
    : [sourceKey(spec.sourceRef.kind, metadata.namespace, spec.sourceRef.name)],
);

export function createHelmChartController(deps: HelmChartDeps): SourceController<HelmChart> {
  const { flux, sources, signer } = deps;

  function find({ metadata, spec }: HelmChart) {
    if (spec === undefined) return undefined;
    const { kind, name } = spec.sourceRef;
    const charts = sources[kind];
    if (charts === undefined) return undefined;
    const key = keyOf({ namespace: metadata.namespace ?? "", name });
    const source = charts.find(key);
    return { charts, source, key, kind };
  }

  function chartsOf(kind: ChartSourceKind, key: ObjectKey): readonly ObjectKey[] {
    return flux.helmCharts.store.byIndex(bySource, `${kind}/${key}`).map(keyOf);
  }

  function sourceWatch<T extends SourceObject>(
    kind: ChartSourceKind,
    source: Parameters<typeof watch<T>>[0],
  ): Watch {
    const revisionOf = (each: T): string | undefined => sources[kind]?.revisionOf(each);
    return watch(source, {
      predicate: (change) => concernsCharts(change, revisionOf),
      toKeys: ({ key }) => chartsOf(kind, key),
      replay: false,
    });
  }

  return createSourceController<HelmChart>(
    {
      name: "helmchart",
      resource: helmCharts,
      failureReason: fluxReason.chartPullError,
      intervalOf(chart) {
        const found = find(chart);
        const isPolled = found?.source !== undefined && found.charts.isPolled(found.source);
        return isPolled ? chart.spec?.interval : undefined;
      },
      addressOf(chart) {
        const found = find(chart);
        return found?.source === undefined ? "" : found.charts.addressOf(found.source);
      },
      secretsOf(chart) {
        const found = find(chart);
        const own = found?.source === undefined ? [] : found.charts.secretsOf(found.source);
        const verify = chart.spec?.verify?.secretRef?.name;
        return [...new Set([...own, ...(verify === undefined ? [] : [verify])])];
      },
      inputsOf(chart) {
        const found = find(chart);
        if (found?.source === undefined) return "no source";
        const { charts, source } = found;
        // The same index at another address has its charts there.
        return `${source.metadata.uid} ${charts.addressOf(source)} ${charts.revisionOf(source) ?? "no artifact"}`;
      },
      isWaiting(chart) {
        const { source, charts } = find(chart) ?? {};
        return (
          chart.status?.artifact !== undefined &&
          source?.status?.artifact !== undefined &&
          charts?.revisionOf(source) === undefined
        );
      },
      isDamaged(chart) {
        const { metadata, status } = chart;
        if (status?.artifact === undefined) return false;
        return (
          pinOfArtifact("HelmChart", metadata, status.artifact, signer) === undefined ||
          lacksProvenance("HelmChart", chart, signer)
        );
      },
      async read(chart, { secret, signal }) {
        const { spec } = chart;
        const found = find(chart);
        if (spec === undefined || found === undefined)
          throw new SourceError(fluxReason.failed, "the HelmChart has no spec: set spec.chart", {
            stalls: true,
          });
        const { source, charts, kind, key } = found;
        if (source === undefined)
          throw new SourceError(
            fluxReason.sourceUnavailable,
            `there is no ${kind} ${key}; continuing as soon as it exists`,
            { condition: fluxType.fetchFailed },
          );
        const revision = charts.revisionOf(source);
        if (revision === undefined)
          throw noSourceArtifact(
            source.status?.artifact === undefined
              ? `the ${kind} ${key} has no artifact yet; continuing as soon as it has one`
              : `the ${kind} ${key} was not read since it was changed; continuing as soon as it is Ready`,
          );
        rejectManyValuesFiles(spec);
        const resolved = await charts.resolve(source, { chart, spec, secret, signal });
        const version = pinnedVersion(resolved.pin);
        const isTree = resolved.pin.kind === "git" || resolved.pin.kind === "bucket";
        return {
          artifact: chartArtifact(chart, resolved, signer),
          reason:
            isTree || "build" in resolved.pin
              ? fluxReason.chartPackageSucceeded
              : fluxReason.chartPullSucceeded,
          message: `${isTree ? "resolved" : "pulled"} '${resolved.name}' chart with version '${version}'`,
          ...(resolved.conditions !== undefined && { conditions: resolved.conditions }),
          fields: {
            url: resolved.url,
            observedChartName: resolved.name,
            observedSourceArtifactRevision: source.status?.artifact?.revision,
            observedValuesFiles: resolved.valuesFiles,
          },
        };
      },
    },
    flux.helmCharts,
    {
      ...deps,
      watches: [
        sourceWatch("HelmRepository", flux.helmRepositories),
        sourceWatch("GitRepository", flux.gitRepositories),
        sourceWatch("Bucket", flux.buckets),
      ],
    },
  );
}

function sourceKey(kind: ChartSourceKind, namespace: string | undefined, name: string): string {
  return `${kind}/${keyOf({ namespace: namespace ?? "", name })}`;
}
