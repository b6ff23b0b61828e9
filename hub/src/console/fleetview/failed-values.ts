/** The objects that the values of an app are read from, where some cluster cannot make the values. Pure. */
import type { Bundle, BundleDeployment, BundleDeploymentOptions } from "@flotilla/shared/api";
import { findCondition } from "@flotilla/shared/conditions";
import type { App } from "@flotilla/shared/dashboard";
import { fluxType } from "@flotilla/shared/flux/reasons";
import { mergeOptions, releaseNamespace, valuesError, valuesSources } from "../../rules/index.ts";

type ValuesRef = NonNullable<App["values"]>[number];

/** More would not be read. */
const mostNamed = 5;

/** `deploymentsOf`: the Bundle's deployments. Objects that may be absent are left out. Which one is the cause only the message says. */
export function failedValues(
  bundle: Bundle,
  deploymentsOf: () => readonly BundleDeployment[],
): readonly ValuesRef[] {
  const ofHub = hubValuesOf(bundle.spec);
  const ofCluster = optionsOf(bundle.spec).flatMap(clusterValuesOf);
  // Most apps have none, and there may be ten thousand deployments.
  if (ofHub.length + ofCluster.length === 0) return [];
  const causes = new Set(deploymentsOf().map(causeOf));
  const found = [
    ...(causes.has("cluster") || causes.has("hub") ? ofHub : []),
    ...(causes.has("cluster") ? ofCluster : []),
  ];
  const refs = new Map(found.map((ref) => [JSON.stringify(ref), ref]));
  return [...refs.values()].slice(0, mostNamed);
}

/**
 * Where what the values are read from is absent or wrong: in the cluster or, as far as it is stalled, on the hub. Undefined where it
 * is not, as where a template in the values fails, which has both reasons.
 */
function causeOf({ status }: BundleDeployment): "cluster" | "hub" | undefined {
  const isOfValues = (type: string) =>
    findCondition(status?.conditions, type)?.reason === valuesError;
  const [isUnread, isStalled] = [isOfValues("Deployed"), isOfValues(fluxType.stalled)];
  if (isUnread === isStalled) return undefined;
  return isStalled ? "hub" : "cluster";
}

function optionsOf(spec: Bundle["spec"]): readonly BundleDeploymentOptions[] {
  const targets = spec.targets ?? [];
  return targets.length === 0 ? [spec] : targets.map((target) => mergeOptions(spec, target));
}

/** The objects that the values of a HelmRelease are read from. */
function hubValuesOf({ helmOpOptions }: Bundle["spec"]): readonly ValuesRef[] {
  return (helmOpOptions?.origin?.valuesFrom ?? [])
    .filter(({ optional }) => optional !== true)
    .map(({ kind, name }) => {
      const at = name.indexOf("/");
      return { kind, namespace: name.slice(0, at), name: name.slice(at + 1) };
    });
}

function clusterValuesOf(options: BundleDeploymentOptions): readonly ValuesRef[] {
  return (options.helm?.valuesFrom ?? [])
    .flatMap(valuesSources)
    .map(({ kind, namespace, name }) => ({
      kind,
      namespace: namespace ?? releaseNamespace(options),
      name,
    }));
}
