/**
 * Builds the Bundle of a HelmOp from the HelmOp and its pins. Pure. The Bundle never has an unresolved constraint:
 * every (repo, chart, version) that it or one of its targets names is resolved, and its pin is kept with that reference
 * in `spec.helmOpOptions.pins`.
 */
import {
  apiVersion,
  type Bundle,
  type BundleTarget,
  type ChartPin,
  type HelmOp,
  type HelmOptions,
} from "@flotilla/shared/api";
import {
  bundleFinalizer,
  createdByNameLabel,
  helmOpLabel,
  targetName,
} from "@flotilla/shared/api/names";
import { pinnedVersion } from "@flotilla/shared/source";
import {
  type ChartReference,
  chartReferenceOf,
  entryFor,
  requestAnnotations,
} from "../frontend/index.ts";

/** The target of a HelmOp without targets: the ClusterGroup `default` of its namespace, as in Fleet. */
const defaultTarget: BundleTarget = { name: "default", clusterGroup: "default" };

/**
 * The Bundle of a HelmOp. Every chart reference must have its pin in `pins`. `caBundle`: the trusted authorities when
 * its Secret has none, as PEM.
 */
export function planBundle(helmOp: HelmOp, pins: readonly ChartPin[], caBundle?: string): Bundle {
  const {
    labels,
    pollingInterval: _p,
    helmSecretName,
    insecureSkipTLSVerify,
    resources: _r,
    ...options
  } = helmOp.spec;
  const own = chartReferenceOf(helmOp.spec.helm ?? {});
  const targets =
    (helmOp.spec.targets ?? []).length === 0 ? [defaultTarget] : (helmOp.spec.targets ?? []);
  return {
    apiVersion,
    kind: "Bundle",
    metadata: {
      name: helmOp.metadata.name,
      ...(helmOp.metadata.namespace !== undefined && { namespace: helmOp.metadata.namespace }),
      labels: { ...withoutDeprecated(labels), [helmOpLabel]: helmOp.metadata.name },
      // They stay open while the HelmOp is suspended.
      ...(helmOp.spec.suspend !== true && requestAnnotations(helmOp)),
      finalizers: [bundleFinalizer],
    },
    spec: {
      ...options,
      ...(options.helm !== undefined &&
        options.helm !== null && { helm: resolved(options.helm, own, pins) }),
      targets: targets.map((target, index) => ({
        ...target,
        name: target.name || targetName(index),
        ...(target.helm !== undefined &&
          target.helm !== null && {
            helm: resolved(target.helm, chartReferenceOf(target.helm, own), pins),
          }),
      })),
      helmOpOptions: {
        ...(helmSecretName && { helmOpSecretName: helmSecretName }),
        ...(insecureSkipTLSVerify !== undefined && {
          helmOpInsecureSkipTLSVerify: insecureSkipTLSVerify,
        }),
        ...(caBundle !== undefined && {
          helmOpCABundle: Buffer.from(caBundle).toString("base64"),
        }),
        pins,
      },
    },
  };
}

/** The Bundle controller removes it, and both would write for ever. */
function withoutDeprecated(labels: HelmOp["spec"]["labels"]): Record<string, string> {
  const { [createdByNameLabel]: _, ...kept } = labels ?? {};
  return kept;
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
