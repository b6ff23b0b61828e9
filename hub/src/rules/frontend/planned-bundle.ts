/**
 * The Bundle of a release. It never has an unresolved constraint: every (repo, chart, version) that it or one of its targets names
 * is resolved, and its pin is kept with that reference in `spec.helmOpOptions.pins`. Pure.
 */
import { apiVersion, type Bundle, type ChartPin, type HelmOptions } from "@flotilla/shared/api";
import {
  bundleFinalizer,
  requestAnnotations,
  requestTokens,
  targetName,
} from "@flotilla/shared/api/names";
import { pinnedVersion } from "@flotilla/shared/source";
import { type ChartReference, chartReferenceOf, entryFor } from "./charts.ts";
import type { PlannedRelease, ReleaseSpec } from "./planned-release.ts";

export interface ResolvedCharts {
  /** One for each chart reference of the release. */
  readonly pins: readonly ChartPin[];
  /** The trusted authorities when the Secret of the source has none, as PEM. */
  readonly caBundle?: string | undefined;
}

export function bundleOf(release: PlannedRelease, charts: ResolvedCharts): Bundle {
  const { metadata, spec, bundle } = release;
  const requests = requestAnnotations(requestTokens(metadata));
  const isRequested = spec.suspend !== true && Object.keys(requests).length > 0;
  return {
    apiVersion,
    kind: "Bundle",
    metadata: {
      name: bundle.name,
      ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
      labels: { ...bundle.labels },
      // They stay open while the release is suspended.
      ...(isRequested && { annotations: requests }),
      finalizers: [bundleFinalizer],
    },
    spec: bundleSpecOf(release, charts),
  };
}

/** The spec of its Bundle. */
export function bundleSpecOf(
  { spec, source, origin }: PlannedRelease,
  { pins, caBundle }: ResolvedCharts,
): Bundle["spec"] {
  const { secretName, insecureSkipTLSVerify } = source;
  return {
    ...withVersions(spec, pins),
    helmOpOptions: {
      ...(secretName !== undefined && { helmOpSecretName: secretName }),
      ...(insecureSkipTLSVerify !== undefined && {
        helmOpInsecureSkipTLSVerify: insecureSkipTLSVerify,
      }),
      ...(caBundle !== undefined && { helmOpCABundle: Buffer.from(caBundle).toString("base64") }),
      pins,
      ...(origin !== undefined && { origin }),
    },
  };
}

function withVersions(spec: ReleaseSpec, pins: readonly ChartPin[]): ReleaseSpec {
  const { helm, targets } = spec;
  const own = chartReferenceOf(helm ?? {});
  return {
    ...spec,
    ...(helm !== undefined && helm !== null && { helm: resolved(helm, own, pins) }),
    targets: (targets ?? []).map((target, index) => ({
      ...target,
      name: target.name || targetName(index),
      ...(target.helm !== undefined &&
        target.helm !== null && {
          helm: resolved(target.helm, chartReferenceOf(target.helm, own), pins),
        }),
    })),
  };
}

/**
 * The same options with repo, chart and the resolved version. There is no version where nothing was resolved because
 * nothing is deployed.
 */
function resolved(
  { version: _, ...helm }: HelmOptions,
  reference: ChartReference,
  pins: readonly ChartPin[],
): HelmOptions {
  const pin = entryFor(pins, reference)?.pin;
  const version = pin === undefined ? "" : pinnedVersion(pin);
  return {
    ...helm,
    ...(reference.repo !== "" && { repo: reference.repo }),
    ...(reference.chart !== "" && { chart: reference.chart }),
    ...(version !== "" && { version }),
  };
}
