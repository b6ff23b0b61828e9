/** What is said of fields of Fleet's that are kept and that this version does nothing with yet. Pure. */
import type { BundleDeploymentOptions } from "@flotilla/shared/api/bundle-deployment-options.ts";
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";

type Spec = HelmOp["spec"];

/** Whether a field says something: off, empty and absent are what happens anyway. */
type IsUsed<T> = (options: T) => boolean;

/** Fields of the whole and of each target. */
const optionFields: Readonly<Record<string, IsUsed<BundleDeploymentOptions>>> = {
  correctDrift: ({ correctDrift }) => correctDrift?.enabled === true,
  diff: ({ diff }) => (diff?.comparePatches ?? []).length > 0,
  ignore: ({ ignore }) => (ignore?.conditions ?? []).length > 0,
  deleteNamespace: ({ deleteNamespace }) => deleteNamespace === true,
  overwrites: ({ overwrites }) => (overwrites ?? []).length > 0,
  allowedTargetNamespaceSelector: ({ allowedTargetNamespaceSelector: selector }) =>
    selector !== undefined && selector !== null,
  yaml: ({ yaml }) => (yaml?.overlays ?? []).length > 0,
  kustomize: ({ kustomize }) => Boolean(kustomize?.dir),
  "helm.valuesFiles": ({ helm }) => (helm?.valuesFiles ?? []).length > 0,
};

/** Fields of the whole alone. */
const ownFields: Readonly<Record<string, IsUsed<Spec>>> = {
  rolloutStrategy: ({ rolloutStrategy }) => Object.keys(rolloutStrategy ?? {}).length > 0,
  targetRestrictions: ({ targetRestrictions }) => (targetRestrictions ?? []).length > 0,
  targetCustomizationMode: ({ targetCustomizationMode }) =>
    targetCustomizationMode === "AllMatches",
};

/** One sentence that names them all, or none. */
export function notCarriedOutRemarks({ spec }: HelmOp): readonly string[] {
  const fields = [
    ...used(optionFields, spec, "spec"),
    ...used(ownFields, spec, "spec"),
    ...(spec.targets ?? []).flatMap((target, index) =>
      used(optionFields, target, `spec.targets[${index}]`),
    ),
  ];
  if (fields.length === 0) return [];
  return [
    `${fields.join(", ")} ${fields.length === 1 ? "has" : "have"} no effect in this version of Flotilla`,
  ];
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
