/** The paths of a HelmChart in the tree of a GitRepository. Pure. */

import type { HelmChartSpec } from "@flotilla/shared/flux";
import { fluxReason, fluxType } from "@flotilla/shared/flux/reasons";
import type { GitPin, GitTree } from "@flotilla/shared/source";
import { cleanPath } from "@flotilla/shared/source/git";
import { SourceError } from "../fluxsource/source-error.ts";
import { invalidChart } from "../helmchart/chart-file.ts";

export interface ChartPaths {
  /** `.` is the root. */
  readonly chart: string;
  /** In the order of the spec, each with its path in the tree. */
  readonly valuesFiles: ReadonlyMap<string, string>;
}

/** Throws a SourceError for a path that leaves the tree. `tree`: for the message. */
export function chartPaths(
  { chart, valuesFiles = [] }: Pick<HelmChartSpec, "chart" | "valuesFiles">,
  tree: string,
): ChartPaths {
  const path = pathInside(chart);
  if (path === undefined)
    throw invalidChart(`${chart} of ${tree}`, "its path leaves the repository");
  const files = valuesFiles.map((file) => {
    const inside = pathInside(file);
    if (inside !== undefined) return [file, inside] as const;
    throw new SourceError(
      fluxReason.valuesFilesError,
      `the values file ${file} cannot be read from ${tree}: its path leaves the repository`,
      { condition: fluxType.buildFailed, stalls: true },
    );
  });
  return { chart: path === "" ? "." : path, valuesFiles: new Map(files) };
}

/** Which repository a path of the whole tree comes from, and where it is there; the last include wins. */
export function placeOf(
  pin: Pick<GitPin, "include">,
  path: string,
): { readonly include: number | undefined; readonly path: string } {
  const includes = pin.include ?? [];
  const at = includes.findLastIndex(({ toPath }) => {
    const to = cleanPath(toPath);
    return to === "" || path === to || path.startsWith(`${to}/`);
  });
  const include = includes[at];
  if (include === undefined) return { include: undefined, path };
  const rest = path.slice(cleanPath(include.toPath).length);
  return { include: at, path: cleanPath(`${include.fromPath}/${rest}`) };
}

/** Whether a file is in the directories of `sparseCheckout`, if there are any. */
export function isCheckedOut(
  { sparseCheckout = [] }: Pick<GitTree, "sparseCheckout">,
  path: string,
): boolean {
  const directories = sparseCheckout.map(cleanPath);
  return (
    directories.length === 0 ||
    directories.some((directory) => directory === "" || path.startsWith(`${directory}/`))
  );
}

function pathInside(path: string): string | undefined {
  try {
    return cleanPath(path);
  } catch {
    return undefined;
  }
}
