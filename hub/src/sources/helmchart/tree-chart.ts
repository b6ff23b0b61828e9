/** What a chart of a tree of files gets: its version, its values files, and whether it is made again. Pure. */

import { type HelmChart, type HelmChartSpec, maxValuesFiles } from "@flotilla/shared/flux";
import { fluxReason, fluxType } from "@flotilla/shared/flux/reasons";
import { pinnedVersion, type TreePin } from "@flotilla/shared/source";
import { SourceError } from "../fluxsource/source-error.ts";

/**
 * The version of the chart that is made. `hash`: of the source, in hex. With the strategy Revision it ends in the first digits of
 * the source, and with values files of its own in the generation of the HelmChart, as in Flux.
 */
export function treeChartVersion(
  { metadata, spec }: Pick<HelmChart, "metadata" | "spec">,
  version: string,
  hash: string,
): string {
  const parts = [
    ...(spec?.reconcileStrategy === "Revision" ? [hash.slice(0, 12)] : []),
    ...(hasOwnValuesFiles(spec) ? [String(metadata.generation ?? 0)] : []),
  ];
  return parts.length === 0 ? version : `${version.replace(/\+.*/, "")}+${parts.join(".")}`;
}

function hasOwnValuesFiles(spec: HelmChartSpec | undefined): boolean {
  const files = spec?.valuesFiles ?? [];
  return files.length > 1 || (files.length === 1 && files[0] !== "values.yaml");
}

/**
 * The values files of a HelmChart that exist, in order. Throws a SourceError for one that does not, unless
 * `ignoreMissingValuesFiles` is set. `where`: of the tree, for the message.
 */
export function presentValuesFiles(
  { valuesFiles = [], ignoreMissingValuesFiles }: HelmChartSpec,
  exists: (file: string) => boolean,
  where: string,
): readonly string[] {
  const present = valuesFiles.filter(exists);
  const found = new Set(present);
  const missing = valuesFiles.find((file) => !found.has(file));
  if (missing !== undefined && ignoreMissingValuesFiles !== true)
    throw new SourceError(
      fluxReason.valuesFilesError,
      `${where} has no values file ${missing}: spec.valuesFiles has paths from the root of the source`,
      { condition: fluxType.buildFailed, stalls: true },
    );
  return present;
}

/** Throws a SourceError for more files than the definition allows: the definitions of Flux have no limit. */
export function rejectManyValuesFiles({ valuesFiles = [] }: HelmChartSpec): void {
  if (valuesFiles.length > maxValuesFiles)
    throw new SourceError(
      fluxReason.valuesFilesError,
      `spec.valuesFiles has ${valuesFiles.length} files, more than the limit of ${maxValuesFiles}: merge some of them`,
      { condition: fluxType.buildFailed, stalls: true },
    );
}

/** The pin of before when a chart of an equal version is not made again: until the HelmChart itself changes, as in Flux. */
export function keepMadeChart<T extends TreePin>(
  { metadata, status }: Pick<HelmChart, "metadata" | "status">,
  before: T | undefined,
  { name, pin }: { readonly name: string; readonly pin: T },
): T {
  const isSame =
    before !== undefined &&
    pinnedVersion(before) === pin.version &&
    before.path === pin.path &&
    status?.observedChartName === name &&
    status.observedGeneration === metadata.generation;
  return isSame ? before : pin;
}
