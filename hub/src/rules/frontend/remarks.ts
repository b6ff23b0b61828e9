/** Remarks for the author of a HelmOp or a Bundle: fields that have no effect, as sentences. Pure. */
import {
  type Bundle,
  type BundleDeploymentOptions,
  bundleSchemas,
  type HelmOp,
  helmOpSchemas,
  type UnknownFields,
  unknownFields,
} from "@flotilla/shared/api";
import type { ReleaseSpec } from "./planned-release.ts";

/** All remarks on a HelmOp. */
export function remarksOn(helmOp: HelmOp): readonly string[] {
  return [
    ...unknownFieldRemarks(helmOp),
    ...ignoredLabelRemarks(helmOp.spec),
    ...ignoredFieldRemarks(helmOp.spec),
  ];
}

/** All remarks on a Bundle that was applied by hand. */
export function remarksOnBundle(bundle: Bundle): readonly string[] {
  return [
    ...unknownBundleFieldRemarks(bundle),
    ...ignoredLabelRemarks(bundle.spec),
    ...unsupportedFieldRemarks(bundle.spec),
  ];
}

/** More are only counted. */
const mostShown = 5;

/** Objects of a store are replaced, never changed; a roll-up of each status has the same spec. */
const unknownRemarks = new WeakMap<object, readonly string[]>();

/** Fields that no schema has, with the field that was probably meant. */
export function unknownFieldRemarks({ spec }: HelmOp): readonly string[] {
  return unknownRemarksOf(spec, helmOpSchemas.spec);
}

/** The same of a Bundle. */
export function unknownBundleFieldRemarks({ spec }: Bundle): readonly string[] {
  return unknownRemarksOf(spec, bundleSchemas.spec);
}

function unknownRemarksOf(
  spec: object,
  schema: Parameters<typeof unknownFields>[0],
): readonly string[] {
  const known = unknownRemarks.get(spec);
  if (known !== undefined) return known;
  const remarks = describeUnknown(
    unknownFields(schema, spec, { root: "spec", mostDescribed: mostShown }),
  );
  unknownRemarks.set(spec, remarks);
  return remarks;
}

function describeUnknown({ described, count, endedBy }: UnknownFields): readonly string[] {
  const remarks = described.map(({ path, meant }) =>
    meant === undefined
      ? `unknown field ${path} has no effect`
      : `unknown field ${path} has no effect, did you mean ${meant}?`,
  );
  const more = count - remarks.length;
  const atLeast = endedBy === undefined ? "" : "at least ";
  return [
    ...remarks,
    ...(more === 0 ? [] : [`${atLeast}${more} more unknown fields have no effect`]),
    ...(endedBy === "visited" ? ["the spec has too many fields to find all unknown ones"] : []),
  ];
}

/** Labels that agents do not set on namespaces. */
export function ignoredLabelRemarks(spec: ReleaseSpec): readonly string[] {
  const places = [
    ["spec", spec.namespaceLabels] as const,
    ...(spec.targets ?? []).map(
      (target, index) => [`spec.targets[${index}]`, target.namespaceLabels] as const,
    ),
  ];
  return places.flatMap(([path, labels]) => {
    const names = Object.keys(labels ?? {}).filter((name) =>
      name.startsWith("pod-security.kubernetes.io/"),
    );
    return names.length === 0
      ? []
      : [
          `${path}.namespaceLabels: ${names.join(", ")} ${names.length === 1 ? "is" : "are"} ignored: pod security is set by the administrators of the cluster`,
        ];
  });
}

/** Whether a field has a value that would change something: off, empty and absent are the default. */
type IsUsed<T> = (options: T) => boolean;

/** Fields of the spec and of each target. */
const optionFields: Readonly<Record<string, IsUsed<BundleDeploymentOptions>>> = {
  overwrites: ({ overwrites }) => (overwrites ?? []).length > 0,
  yaml: ({ yaml }) => (yaml?.overlays ?? []).length > 0,
  kustomize: ({ kustomize }) => Boolean(kustomize?.dir),
  "helm.valuesFiles": ({ helm }) => (helm?.valuesFiles ?? []).length > 0,
};

/** Fields that Fleet ignores in a HelmOp, too: they belong to Bundles that are made from Git. */
export function ignoredFieldRemarks(spec: ReleaseSpec): readonly string[] {
  const fields = [
    ...optionsUsed(spec),
    ...(spec.targetCustomizationMode === "AllMatches" ? ["spec.targetCustomizationMode"] : []),
  ];
  return remarkOn(fields, "no effect on a HelmOp, as in Fleet");
}

/** Fields of Bundles from Git that have an effect in Fleet, and none on charts of a repository. */
export function unsupportedFieldRemarks(spec: ReleaseSpec): readonly string[] {
  return remarkOn(optionsUsed(spec), "no effect in this version of Flotilla");
}

function optionsUsed(spec: ReleaseSpec): readonly string[] {
  return [
    ...used(optionFields, spec, "spec"),
    ...(spec.targets ?? []).flatMap((target, index) =>
      used(optionFields, target, `spec.targets[${index}]`),
    ),
  ];
}

function remarkOn(fields: readonly string[], what: string): readonly string[] {
  if (fields.length === 0) return [];
  return [`${fields.join(", ")} ${fields.length === 1 ? "has" : "have"} ${what}`];
}

function used<T>(
  table: Readonly<Record<string, IsUsed<T>>>,
  options: T,
  path: string,
): readonly string[] {
  return Object.entries(table).flatMap(([field, isUsed]) =>
    isUsed(options) ? [`${path}.${field}`] : [],
  );
}
