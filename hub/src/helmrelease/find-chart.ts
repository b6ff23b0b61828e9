/** Finds what the source of a HelmRelease's chart has now. Reads caches, and changes nothing. */
import type { SourceAccess } from "@flotilla/shared/api";
import { findCondition } from "@flotilla/shared/conditions";
import type { HelmRelease } from "@flotilla/shared/flux";
import { keyOf } from "@flotilla/shared/kube/objects";
import type { Pin } from "@flotilla/shared/source";
import type { FluxInformers } from "../cache/index.ts";
import { isUsable, type SourceObject } from "../fluxsource/index.ts";
import { type ChartProblem, pinOfArtifact, problemOfArtifact } from "../helmchart/index.ts";
import type { PinSigner } from "../resolve/index.ts";
import { type ChartSourceRef, chartSourceOf, isGeneratedFor, type ReleaseChart } from "./chart.ts";

export interface FindChartDeps {
  readonly flux: FluxInformers;
  readonly signer: Pick<PinSigner, "isSigned">;
}

/** Why there is no chart, with Flux's reason. */
export interface NoChart {
  readonly reason: "SourceNotReady" | "NameTaken" | ChartProblem["reason"];
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
  const found = { pin, access };
  const included = kind === "GitRepository" ? includedOf(flux, ref.namespace, name) : undefined;
  return pin.kind === "oci"
    ? { ...found, repo: pin.repository, chart: "" }
    : { ...found, included, repo: access.url ?? "", chart: chart.spec.chart };
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
  return { repo, chart: "", pin, access };
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
  const ready = findCondition(source.status?.conditions, "Ready");
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

/** How agents access a source: its address, and the Secrets in its namespace. Undefined: it does not exist. */
function accessOf(
  flux: FluxInformers,
  kind: SourceAccess["kind"],
  namespace: string,
  name: string,
): SourceAccess | undefined {
  const key = keyOf({ namespace, name });
  const secret = (ref: { readonly name: string } | undefined) =>
    ref === undefined ? undefined : `${namespace}/${ref.name}`;
  const secrets = (refs: {
    readonly secretRef?: { readonly name: string } | undefined;
    readonly certSecretRef?: { readonly name: string } | undefined;
    readonly proxySecretRef?: { readonly name: string } | undefined;
  }) =>
    given({
      secret: secret(refs.secretRef),
      certSecret: secret(refs.certSecretRef),
      proxySecret: secret(refs.proxySecretRef),
    });
  switch (kind) {
    case "HelmRepository": {
      const { spec } = flux.helmRepositories.store.get(key) ?? {};
      if (spec === undefined) return undefined;
      const { url, insecure, passCredentials } = spec;
      return { kind, url, ...secrets(spec), ...flags({ insecure, passCredentials }) };
    }
    case "OCIRepository": {
      const { spec } = flux.ociRepositories.store.get(key) ?? {};
      if (spec === undefined) return undefined;
      return { kind, url: spec.url, ...secrets(spec), ...flags({ insecure: spec.insecure }) };
    }
    case "GitRepository": {
      const { spec } = flux.gitRepositories.store.get(key) ?? {};
      return spec === undefined ? undefined : { kind, url: spec.url, ...secrets(spec) };
    }
    case "Bucket": {
      const { spec } = flux.buckets.store.get(key) ?? {};
      if (spec === undefined) return undefined;
      const scheme = spec.insecure === true ? "http" : "https";
      const url = `${scheme}://${spec.endpoint}/${spec.bucketName}`;
      return { kind, url, ...secrets(spec), ...flags({ insecure: spec.insecure }) };
    }
  }
}

function includedOf(flux: FluxInformers, namespace: string, name: string): readonly SourceAccess[] {
  const { spec } = flux.gitRepositories.store.get(keyOf({ namespace, name })) ?? {};
  return (spec?.include ?? []).flatMap(
    ({ repository }) => accessOf(flux, "GitRepository", namespace, repository.name) ?? [],
  );
}

function flags(values: Readonly<Record<string, boolean | undefined>>) {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value === true));
}

function given(texts: Readonly<Record<string, string | undefined>>) {
  return Object.fromEntries(
    Object.entries(texts).flatMap(([name, text]) => (text === undefined ? [] : [[name, text]])),
  );
}

function notReady(message: string): NoChart {
  return { reason: "SourceNotReady", message };
}
