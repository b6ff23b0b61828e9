/**
 * The options that a cluster gets: the Bundle's, with the matching target's over them. Pure; the rules are Fleet's: a scalar
 * of the target wins when it is not empty, Booleans are ORed, values are merged deeply, lists of named items are merged by that
 * name. Of Flux's options a field of the target wins. The fields that Fleet ignores in a target (`maxHistory`,
 * `skipSchemaValidation`, `deleteNamespace`, the namespace's labels) apply here like the rest.
 */
import type { BundleDeploymentOptions, HelmOptions, LabelSelector } from "@flotilla/shared/api";
import { mergeValues } from "@flotilla/shared/values";

export function mergeOptions(
  base: BundleDeploymentOptions,
  over: BundleDeploymentOptions,
): BundleDeploymentOptions {
  const helm = mergeHelm(base.helm ?? undefined, over.helm ?? undefined);
  return {
    ...base,
    ...filled({
      defaultNamespace: over.defaultNamespace,
      namespace: over.namespace,
      serviceAccount: over.serviceAccount,
      createNamespace: over.createNamespace,
      forceSyncGeneration: over.forceSyncGeneration,
      correctDrift: over.correctDrift,
      suspend: either(base.suspend, over.suspend),
      keepResources: either(base.keepResources, over.keepResources),
      deleteNamespace: either(base.deleteNamespace, over.deleteNamespace),
      deleteCRDResources: either(base.deleteCRDResources, over.deleteCRDResources),
      namespaceLabels: mergeTexts(base.namespaceLabels, over.namespaceLabels),
      namespaceAnnotations: mergeTexts(base.namespaceAnnotations, over.namespaceAnnotations),
      downstreamResources: mergeLists(
        base.downstreamResources,
        over.downstreamResources,
        ({ kind = "", name = "" }) => `${kind.toLowerCase()}/${name}`,
      ),
      allowedTargetNamespaceSelector: both(
        base.allowedTargetNamespaceSelector,
        over.allowedTargetNamespaceSelector,
      ),
      ignore: over.ignore,
      timeout: over.timeout,
      storageNamespace: over.storageNamespace,
    }),
    ...(over.driftDetection && {
      driftDetection: { ...base.driftDetection, ...filled(over.driftDetection) },
    }),
    ...mergeDiff(base.diff, over.diff),
    ...mergeActions(base, over),
    ...mergePostRendering(base, over),
    // The first entry of a kind is used, so the order matters.
    ...(over.healthCheckExprs && { healthCheckExprs: over.healthCheckExprs }),
    ...(helm !== undefined && { helm }),
  };
}

/** A selector that matches what both match: a target may only narrow. */
function both(
  base: LabelSelector | null | undefined,
  over: LabelSelector | null | undefined,
): LabelSelector | undefined {
  if (!base || !over) return base ?? over ?? undefined;
  const labels = Object.entries(over.matchLabels ?? {});
  return {
    ...base,
    matchExpressions: [
      ...(base.matchExpressions ?? []),
      ...(over.matchExpressions ?? []),
      ...labels.map(([key, value]) => ({ key, operator: "In" as const, values: [value] })),
    ],
  };
}

function mergeHelm(
  base: HelmOptions | undefined,
  over: HelmOptions | undefined,
): HelmOptions | undefined {
  if (base === undefined || over === undefined) return over ?? base;
  const values =
    base.values && over.values
      ? mergeValues(base.values, over.values)
      : (over.values ?? base.values);
  const timeoutSeconds = over.timeoutSeconds;
  return {
    ...base,
    ...filled({
      chart: over.chart,
      repo: over.repo,
      version: over.version,
      releaseName: over.releaseName,
      // A value below zero removes the Bundle's.
      timeoutSeconds:
        timeoutSeconds !== undefined && timeoutSeconds < 0 ? undefined : timeoutSeconds,
      force: either(base.force, over.force),
      takeOwnership: either(base.takeOwnership, over.takeOwnership),
      waitForJobs: either(base.waitForJobs, over.waitForJobs),
      atomic: either(base.atomic, over.atomic),
      disablePreProcess: either(base.disablePreProcess, over.disablePreProcess),
      disableDNS: strictest(base.disableDNS, over.disableDNS),
      disableLookup: strictest(base.disableLookup, over.disableLookup),
      skipSchemaValidation: either(base.skipSchemaValidation, over.skipSchemaValidation),
      maxHistory: over.maxHistory,
      values,
      templateValues: mergeTexts(base.templateValues, over.templateValues),
      valuesFrom: mergeLists(base.valuesFrom, over.valuesFrom, JSON.stringify),
    }),
    ...(timeoutSeconds !== undefined && timeoutSeconds < 0 && { timeoutSeconds: 0 }),
  };
}

/** What a target says, `false` and 0 included, takes precedence. */
function mergeActions(
  base: BundleDeploymentOptions,
  over: BundleDeploymentOptions,
): BundleDeploymentOptions {
  return {
    ...(over.maxHistory !== undefined && { maxHistory: over.maxHistory }),
    ...(over.install && { install: mergeAction(base.install, over.install) }),
    ...(over.upgrade && { upgrade: mergeAction(base.upgrade, over.upgrade) }),
    ...(over.test && { test: { ...base.test, ...over.test } }),
    ...(over.rollback && { rollback: { ...base.rollback, ...over.rollback } }),
    ...(over.uninstall && { uninstall: { ...base.uninstall, ...over.uninstall } }),
  };
}

/** A strategy replaces the other: an interval belongs to the one that it was written for. */
function mergeAction<T extends { readonly remediation?: object | null | undefined }>(
  base: T | null | undefined,
  over: T,
): T {
  const remediation = over.remediation && { ...base?.remediation, ...over.remediation };
  return { ...base, ...over, ...(remediation && { remediation }) };
}

/** The order of post-renderers matters, so a target's list, also an empty one, replaces the Bundle's. */
function mergePostRendering(
  base: BundleDeploymentOptions,
  { postRenderers, commonMetadata: over }: BundleDeploymentOptions,
): BundleDeploymentOptions {
  const { labels, annotations } = base.commonMetadata ?? {};
  return {
    ...(postRenderers && { postRenderers }),
    ...(over && {
      commonMetadata: filled({
        labels: mergeTexts(labels, over.labels),
        annotations: mergeTexts(annotations, over.annotations),
      }),
    }),
  };
}

function mergeDiff(
  base: BundleDeploymentOptions["diff"],
  over: BundleDeploymentOptions["diff"],
): Pick<BundleDeploymentOptions, "diff"> {
  const comparePatches = mergeLists(
    base?.comparePatches,
    over?.comparePatches,
    ({ apiVersion, kind, namespace, name }) => JSON.stringify([apiVersion, kind, namespace, name]),
  );
  return comparePatches === undefined ? {} : { diff: { comparePatches } };
}

function mergeTexts(
  base: Readonly<Record<string, string>> | null | undefined,
  over: Readonly<Record<string, string>> | null | undefined,
): Readonly<Record<string, string>> | undefined {
  return base && over ? { ...base, ...over } : (over ?? base ?? undefined);
}

/** Entries of the same identity are replaced in their position, others are appended. */
function mergeLists<T>(
  base: readonly T[] | null | undefined,
  over: readonly T[] | null | undefined,
  identity: (entry: T) => string,
): readonly T[] | undefined {
  if (!base || !over) return over ?? base ?? undefined;
  const merged = new Map(base.map((entry) => [identity(entry), entry]));
  for (const entry of over) merged.set(identity(entry), entry);
  return [...merged.values()];
}

function either(a: boolean | undefined, b: boolean | undefined): boolean | undefined {
  return a === true || b === true ? true : undefined;
}

/** For a switch that forbids something: `false` allows it, which is more than saying nothing. */
function strictest(a: boolean | undefined, b: boolean | undefined): boolean | undefined {
  return either(a, b) ?? a ?? b;
}

/** Without what is empty, so that spreading it over the base replaces only what was given. */
function filled<T extends object>(
  options: T,
): { [K in keyof T]?: Exclude<T[K], undefined | null> } {
  const kept = Object.entries(options).filter(
    ([, value]) => value !== undefined && value !== null && value !== "" && value !== 0,
  );
  // Object.entries loses the keys' types; nothing was added.
  return Object.fromEntries(kept) as { [K in keyof T]?: Exclude<T[K], undefined | null> };
}
