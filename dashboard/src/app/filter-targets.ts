/** Which clusters the page of an app shows, as its address has it. Pure. */
import type { Target } from "@flotilla/shared/dashboard";
import { byUrgency } from "../state/index.ts";
import { matchesText } from "../text/index.ts";

/** With the state as the page shows it. */
export type ShownTarget = Omit<Target, "state"> & { readonly state?: Target["state"] | "Blocked" };

export interface TargetFilter {
  /** `in`: targets; `out`: the others; `all`. */
  readonly show: string;
  /** `none`: nothing is installed yet; "": every version. */
  readonly version: string;
  /** Words, all of which occur. */
  readonly text: string;
}

/** In place of a version. */
export const noVersion = "none";

/** The worst first, then by name. `labelsOf`: the labels of the cluster as texts; none if the user may not see it. */
export function filterTargets(
  targets: readonly ShownTarget[],
  labelsOf: (target: ShownTarget) => readonly string[],
  { show, version, text }: TargetFilter,
): readonly ShownTarget[] {
  return targets
    .filter(({ isTarget }) => show === "all" || isTarget === (show === "in"))
    .filter((target) => version === "" || versionOf(target) === version)
    .filter((target) => matchesText([...textsOf(target), ...labelsOf(target)], text))
    .sort(
      (one, other) =>
        byUrgency(one.state ?? "Ready", other.state ?? "Ready") ||
        one.name.localeCompare(other.name),
    );
}

function versionOf({ state, version = "" }: ShownTarget): string | undefined {
  if (state === undefined) return undefined;
  return version === "" ? noVersion : version;
}

function textsOf({
  namespace,
  name,
  why,
  version = "",
  message = "",
}: ShownTarget): readonly string[] {
  return [`${namespace}/${name}`, why, version, message];
}
