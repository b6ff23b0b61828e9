/** Validation of HelmReleases beyond what the schema of the CRD can check. Pure. */
import { releaseNamePattern } from "@flotilla/shared/api/names";
import { AppError } from "@flotilla/shared/errors";
import type { HelmRelease, HelmReleaseSpec } from "@flotilla/shared/flux";
import { isMap } from "@flotilla/shared/values";
import { hubErrors } from "../../base/index.ts";
import {
  createDriftBudget,
  dependencyCountProblem,
  driftOptionsProblem,
  reservedFormProblem,
  stagesProblem,
  strategyProblem,
} from "../../rules/index.ts";
import { type Destination, destinationOf, isLocal } from "./destination.ts";
import { releaseNameOf } from "./plan.ts";

export interface ValidationOptions {
  /** Whether sources of other namespaces may be referred to. */
  readonly crossNamespaceReferences: boolean;
  /** Whether a release on the hub's own cluster needs a service account. */
  readonly requireLocalAccount: boolean;
}

/** The first thing that is wrong, and what to change; undefined when the HelmRelease can be deployed. */
export function validate(release: HelmRelease, options: ValidationOptions): AppError | undefined {
  const { spec } = release;
  if (spec === undefined) return invalid("the HelmRelease has no spec: set spec.chart or chartRef");
  const destination = destinationOf(release);
  if (destination instanceof AppError) return destination;
  const problem =
    chartProblem(spec) ??
    nameProblem(release, spec) ??
    storageProblem(release, spec) ??
    rolloutProblem(spec) ??
    waitProblem(spec) ??
    postRenderProblem(spec) ??
    valuesProblem(spec) ??
    dependencyCountProblem(spec.dependsOn) ??
    driftProblem(spec, destination) ??
    reservedFormProblem({ targets: destination.targets }, undefined);
  if (problem !== undefined) return invalid(problem);
  if (isLocal(release, destination) && options.requireLocalAccount && !spec.serviceAccountName)
    return new AppError(
      hubErrors.ACCESS_DENIED,
      `spec.serviceAccountName is not set, and releases on the hub's own cluster need one, because that cluster has the hub's keys; set it to an account of namespace ${release.metadata.namespace}, or set the value flux.requireLocalServiceAccount of the chart flotilla to false`,
    );
  return crossNamespaceProblem(release, spec, options);
}

function chartProblem({ chart, chartRef }: HelmReleaseSpec): string | undefined {
  if ((chart === undefined) === (chartRef === undefined))
    return "a HelmRelease has one chart: set exactly one of spec.chart and spec.chartRef";
  if (chartRef?.kind === "ExternalArtifact")
    return "spec.chartRef.kind ExternalArtifact is not supported, because agents download charts from their source: refer to an OCIRepository or a HelmChart";
  return undefined;
}

/** The schema of Flux has no pattern, and the name becomes an argument of Helm. */
function nameProblem(release: HelmRelease, spec: HelmReleaseSpec): string | undefined {
  const name = releaseNameOf(release, spec);
  if (releaseNamePattern.test(name)) return undefined;
  const field = spec.releaseName === undefined ? "spec.targetNamespace" : "spec.releaseName";
  return `${JSON.stringify(name)} is not a name of a Helm release: it has lower-case letters, digits, "-" and ".", and begins and ends with a letter or a digit; change ${field}`;
}

/** Helm keeps its records in the namespace of the release. */
function storageProblem(
  { metadata }: HelmRelease,
  { storageNamespace, targetNamespace }: HelmReleaseSpec,
): string | undefined {
  const namespace = targetNamespace ?? metadata.namespace;
  if (storageNamespace === undefined || storageNamespace === namespace) return undefined;
  return `spec.storageNamespace is ${storageNamespace}, and Helm keeps its records in the namespace of the release, ${namespace}: remove storageNamespace; records that Flux has left in its namespace are copied`;
}

function rolloutProblem({ rolloutStrategy, test }: HelmReleaseSpec): string | undefined {
  return (
    strategyProblem(rolloutStrategy) ??
    stagesProblem({ rolloutStrategy, ...(test?.enable === true && { test: { enable: true } }) })
  );
}

function waitProblem({ waitStrategy }: HelmReleaseSpec): string | undefined {
  return waitStrategy?.name === "legacy"
    ? "spec.waitStrategy legacy is not supported: objects are ready by the rules of kstatus (poller); remove it"
    : undefined;
}

/** The field is one of newer versions of Flux; our schema keeps it as an unknown field. */
function postRenderProblem(spec: HelmReleaseSpec): string | undefined {
  const strategy: unknown = Reflect.get(spec, "postRenderStrategy");
  return strategy === undefined || strategy === "combined"
    ? undefined
    : "spec.postRenderStrategy: hooks are always changed with the other objects (combined); remove it";
}

/** The hub reads each, and its agents get it. Flux's definitions have no limit. */
const maxValuesFrom = 100;

function valuesProblem({ values, valuesFrom = [] }: HelmReleaseSpec): string | undefined {
  if (valuesFrom.length > maxValuesFrom)
    return `spec.valuesFrom has ${valuesFrom.length} entries, more than the limit of ${maxValuesFrom}: merge some of them`;
  return values === undefined || values === null || isMap(values)
    ? undefined
    : "spec.values is not a map";
}

/** Agents compile the rules of a release within a limit. */
function driftProblem(
  { driftDetection }: HelmReleaseSpec,
  { targets }: Destination,
): string | undefined {
  const budget = createDriftBudget();
  const all = [
    ["spec", { driftDetection }] as const,
    ...targets.map((target, index) => [`spec.targets[${index}]`, target] as const),
  ];
  for (const [path, options] of all) {
    const problem = driftOptionsProblem(options, budget);
    if (problem !== undefined) return `${path}.${problem}`;
  }
  return undefined;
}

function crossNamespaceProblem(
  { metadata }: HelmRelease,
  { chart, chartRef }: HelmReleaseSpec,
  { crossNamespaceReferences }: ValidationOptions,
): AppError | undefined {
  const source = chart?.spec.sourceRef ?? chartRef;
  const namespace = source?.namespace ?? metadata.namespace;
  if (crossNamespaceReferences || source === undefined || namespace === metadata.namespace)
    return undefined;
  return new AppError(
    hubErrors.ACCESS_DENIED,
    `${source.kind} ${namespace}/${source.name} is in another namespace, and references across namespaces are off; create it in namespace ${metadata.namespace}, or set the value flux.crossNamespaceReferences of the chart flotilla`,
  );
}

function invalid(message: string): AppError {
  return new AppError(hubErrors.HELMRELEASE_INVALID, message);
}
