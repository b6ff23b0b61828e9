/** Finds what the source of a HelmRelease's chart has now. Reads caches, and changes nothing. */

import type { SourceProvenance } from "@flotilla/shared/api";
import { findCondition } from "@flotilla/shared/conditions";
import type { HelmRelease } from "@flotilla/shared/flux";
import { fluxReason, fluxType } from "@flotilla/shared/flux/reasons";
import { keyOf } from "@flotilla/shared/kube/objects";
import type { Pin } from "@flotilla/shared/source";
import type { FluxInformers } from "../../base/index.ts";
import type { PinSigner } from "../../rules/index.ts";
import {
  type ChartProblem,
  dependenciesOfArtifact,
  isUsable,
  pinOfArtifact,
  problemOfArtifact,
  provenanceOfArtifact,
  type SourceObject,
} from "../../sources/index.ts";
import { type ChartSourceRef, chartSourceOf, isGeneratedFor, type ReleaseChart } from "./chart.ts";
import {
  accessOf,
  dependenciesOf,
  type FluxSources,
  includedOf,
  secretSourcesOf,
} from "./source-access.ts";

export interface FindChartDeps {
  readonly flux: FluxSources & { readonly helmCharts: Pick<FluxInformers["helmCharts"], "store"> };
  readonly signer: Pick<PinSigner, "isSigned">;
}

/** Why there is no chart, with Flux's reason. */
export interface NoChart {
  readonly reason: typeof fluxReason.sourceNotReady | "NameTaken" | ChartProblem["reason"];
  readonly message: string;
}

export function findChart(deps: FindChartDeps, release: HelmRelease): ReleaseChart | NoChart {
  const ref = chartSourceOf(release);
  if (ref === undefined) return notReady("the HelmRelease names no chart");
  const taken = ref.isGenerated ? chartNameTaken(deps, ref, release) : undefined;
  return taken ?? (ref.kind === "HelmChart" ? chartOf(deps, ref) : repositoryOf(deps, ref));
}

/** The HelmChart of that name was made by somebody else, or for another HelmRelease whose names join to the same. */
function chartNameTaken(
  { flux }: FindChartDeps,
  ref: ChartSourceRef,
  release: HelmRelease,
): NoChart | undefined {
  const chart = flux.helmCharts.store.get(keyOf(ref));
  if (chart === undefined || isGeneratedFor(chart, release)) return undefined;
  return {
    reason: "NameTaken",
    message: `a HelmChart ${keyOf(ref)} exists already that was not made for this HelmRelease; delete that HelmChart, refer to it with spec.chartRef, or create the HelmRelease under another name`,
  };
}

function chartOf({ flux, signer }: FindChartDeps, ref: ChartSourceRef): ReleaseChart | NoChart {
  const chart = flux.helmCharts.store.get(keyOf(ref));
  const pin = pinOf("HelmChart", ref, chart, signer);
  if ("reason" in pin) return pin;
  if (chart?.spec === undefined) return notReady(`HelmChart '${keyOf(ref)}' has no spec`);
  const { kind, name } = chart.spec.sourceRef;
  const key = keyOf({ namespace: ref.namespace, name });
  const access = accessOf(flux, kind, ref.namespace, name);
  if (access === undefined) return notReady(`there is no ${kind} ${key}`);
  const source = { kind, namespace: ref.namespace, name };
  const provenance = provenanceOf("HelmChart", chart, signer);
  if (pin.kind === "oci") {
    const secretSources = secretSourcesOf(flux, source);
    return { pin, provenance, access, repo: pin.repository, chart: "", secretSources };
  }
  const repositories = dependenciesOfArtifact(chart, chart.status?.artifact, signer) ?? [];
  return {
    secretSources: secretSourcesOf(flux, source, repositories),
    pin,
    provenance,
    access,
    repo: access.url ?? "",
    chart: chart.spec.chart,
    included: kind === "GitRepository" ? includedOf(flux, ref.namespace, name) : [],
    dependencies: dependenciesOf(flux, ref.namespace, repositories),
    repositories,
  };
}

function repositoryOf(
  { flux, signer }: FindChartDeps,
  ref: ChartSourceRef,
): ReleaseChart | NoChart {
  const repository = flux.ociRepositories.store.get(keyOf(ref));
  const pin = pinOf("OCIRepository", ref, repository, signer);
  if ("reason" in pin) return pin;
  const access = accessOf(flux, "OCIRepository", ref.namespace, ref.name);
  if (access === undefined) return notReady(`OCIRepository '${keyOf(ref)}' has no spec`);
  const repo = pin.kind === "oci" ? pin.repository : (access.url ?? "");
  const provenance = provenanceOf("OCIRepository", repository, signer);
  return { repo, chart: "", pin, provenance, access, secretSources: secretSourcesOf(flux, ref) };
}

/** As Bundles have it. */
function provenanceOf(
  kind: ChartSourceRef["kind"],
  source: SourceObject | undefined,
  signer: FindChartDeps["signer"],
): readonly SourceProvenance[] | undefined {
  if (source === undefined) return undefined;
  const { namespace } = source.metadata;
  const found = provenanceOfArtifact(kind, source.metadata, source.status?.artifact, signer);
  return found?.map(({ ref, verifiedBy, chart, repository }) => ({
    ...(ref !== undefined && { ref }),
    ...(chart !== undefined && { chart }),
    ...(repository !== undefined && { repository }),
    ...(verifiedBy !== undefined && { verifiedBy: `${namespace}/${verifiedBy}` }),
  }));
}

function pinOf(
  kind: ChartSourceRef["kind"],
  ref: ChartSourceRef,
  source: SourceObject | undefined,
  signer: FindChartDeps["signer"],
): Pin | NoChart {
  const what = `${kind} '${ref.namespace}/${ref.name}'`;
  if (source === undefined)
    return notReady(`${what} ${ref.isGenerated ? "is being created" : "does not exist"}`);
  const ready = findCondition(source.status?.conditions, fluxType.ready);
  if (!isUsable(source))
    return notReady(`${what} is not ready: ${ready?.message ?? "it was not reconciled yet"}`);
  const { artifact } = source.status ?? {};
  const pin = pinOfArtifact(kind, source.metadata, artifact, signer);
  if (pin !== undefined) return pin;
  const problem = problemOfArtifact(artifact);
  if (problem !== undefined)
    return { ...problem, message: `${what} has no chart to install: ${problem.message}` };
  return notReady(
    `${what} has no chart: its status was not written by this hub, which reads the source again`,
  );
}

function notReady(message: string): NoChart {
  return { reason: fluxReason.sourceNotReady, message };
}
