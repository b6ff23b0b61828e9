/** The release of a HelmRelease, from the HelmRelease and its chart. Pure. */
import type { Bundle, BundleOrigin } from "@flotilla/shared/api";
import {
  bundleNameOf,
  deploymentName,
  fluxReleaseName,
  helmReleaseLabel,
  rolloutPolicyAnnotation,
  shortReleaseName,
} from "@flotilla/shared/api/names";
import type { HelmRelease, HelmReleaseSpec } from "@flotilla/shared/flux";
import type { ObjectKey } from "@flotilla/shared/kube/objects";
import { isMap } from "@flotilla/shared/values";
import { ownBundleKey, type PlannedRelease } from "../../rules/index.ts";
import { chartVersion, ownerLabelsOf, type ReleaseChart } from "./chart.ts";
import type { Destination } from "./destination.ts";
import { chosenMethods, releaseOptions } from "./options.ts";

const kind = "HelmRelease";

/** The key of the Bundle of a HelmRelease. */
export function bundleKeyFor(release: Pick<HelmRelease, "metadata">): ObjectKey {
  return ownBundleKey(kind, release);
}

export function planRelease(
  release: HelmRelease,
  { chart, destination }: { readonly chart: ReleaseChart; readonly destination: Destination },
): PlannedRelease {
  // Flux's schema does not require one; a HelmRelease without it is invalid.
  const { metadata, spec = { interval: "" } } = release;
  const { namespace = "", name } = metadata;
  const { repo, chart: chartName, pin } = chart;
  const version = chartVersion(chart);
  const { values } = spec;
  return {
    kind,
    metadata,
    spec: {
      ...releaseOptions(spec),
      namespace: spec.targetNamespace ?? namespace,
      createNamespace: spec.targetNamespace !== undefined && spec.install?.createNamespace === true,
      commonMetadata: {
        ...spec.commonMetadata,
        labels: { ...spec.commonMetadata?.labels, ...ownerLabelsOf(release) },
      },
      helm: {
        ...(repo !== "" && { repo }),
        ...(chartName !== "" && { chart: chartName }),
        version,
        releaseName: releaseNameOf(release, spec),
        disablePreProcess: true,
        ...(isMap(values) && { values }),
      },
      ...(spec.suspend === true && { suspend: true }),
      ...dependencies(release, spec, destination),
      ...rolloutStrategyOf(metadata, spec),
      targets: [...destination.targets],
    },
    source: {},
    origin: originOf(release, spec, chart, destination),
    bundle: { name: bundleNameOf(kind, name), labels: { [helmReleaseLabel]: labelValue(name) } },
    pins: [{ repo, chart: chartName, version, pin }],
  };
}

/** With Flux's own definitions, which drop the field, an annotation names a RolloutPolicy. */
function rolloutStrategyOf(
  { annotations = {} }: HelmRelease["metadata"],
  { rolloutStrategy }: HelmReleaseSpec,
): Pick<Bundle["spec"], "rolloutStrategy"> {
  if (rolloutStrategy !== undefined) return { rolloutStrategy };
  const policy = annotations[rolloutPolicyAnnotation];
  return policy ? { rolloutStrategy: { policy } } : {};
}

/** As in Flux. */
export function releaseNameOf({ metadata }: HelmRelease, spec: HelmReleaseSpec): string {
  return spec.releaseName === undefined
    ? fluxReleaseName(metadata.name, spec.targetNamespace)
    : shortReleaseName(spec.releaseName);
}

function originOf(
  { metadata }: HelmRelease,
  spec: HelmReleaseSpec,
  { access, included = [], dependencies = [], repositories = [], provenance }: ReleaseChart,
  { clusterNamespace }: Destination,
): BundleOrigin {
  const { namespace = "", name, uid, generation } = metadata;
  const { serviceAccountName, targetNamespace, valuesFrom = [] } = spec;
  const methods = chosenMethods(spec);
  return {
    kind,
    name,
    ...(uid !== undefined && { uid }),
    ...(generation !== undefined && { generation }),
    ...(clusterNamespace !== undefined && clusterNamespace !== namespace && { clusterNamespace }),
    ...(serviceAccountName !== undefined && {
      serviceAccount: `system:serviceaccount:${namespace}:${serviceAccountName}`,
    }),
    access,
    ...(methods.length > 0 && { chosenMethods: methods }),
    ...(included.length > 0 && { included }),
    ...(dependencies.length > 0 && { dependencies }),
    ...(repositories.length > 0 && { repositories }),
    ...(provenance !== undefined && { provenance }),
    ...(valuesFrom.length > 0 && {
      valuesFrom: valuesFrom.map((each) => ({
        kind: each.kind,
        name: `${namespace}/${each.name}`,
        key: each.valuesKey ?? "values.yaml",
        ...(each.targetPath !== undefined && { targetPath: each.targetPath }),
        ...(each.optional === true && { optional: true }),
        ...(each.literal === true && { literal: true }),
      })),
    }),
    // Flux's own default, which differs from Helm's only then.
    ...(targetNamespace !== undefined &&
      targetNamespace !== namespace && { recordsNamespace: namespace }),
  };
}

/** The deployments of the other HelmReleases in the same cluster. */
function dependencies(
  { metadata }: HelmRelease,
  { dependsOn = [] }: HelmReleaseSpec,
  { clusterNamespace }: Destination,
): Pick<Bundle["spec"], "dependsOn"> {
  const { namespace = "" } = metadata;
  const workspace = clusterNamespace ?? namespace;
  if (dependsOn.length === 0) return {};
  return {
    dependsOn: dependsOn.map((each) => {
      const name = bundleNameOf(kind, each.name);
      return {
        name: deploymentName({ namespace: each.namespace || namespace, name }, workspace),
        ...(each.readyExpr !== undefined && { readyExpr: each.readyExpr }),
      };
    }),
  };
}

/** The longest value of a label. */
const longestLabel = 63;

function labelValue(name: string): string {
  return name.length <= longestLabel ? name : bundleNameOf(kind, name);
}
