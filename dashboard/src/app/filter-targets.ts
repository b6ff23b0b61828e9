/** Which clusters the page of an app shows, as its address has it. Pure. */
import type { FleetCluster, Target } from "@flotilla/shared/dashboard";
import { matchesText } from "../field/matches-text.ts";
import { clusterKey } from "../fleet/fleet-state.ts";
import { labelTexts } from "../fleet/labels.ts";
import { byUrgency } from "../state/index.ts";

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

/** The worst first, then by name. `clusters`: by key, those that the user may see. */
export function filterTargets(
  targets: readonly Target[],
  clusters: ReadonlyMap<string, FleetCluster>,
  { show, version, text }: TargetFilter,
): readonly Target[] {
  return targets
    .filter(({ isTarget }) => show === "all" || isTarget === (show === "in"))
    .filter((target) => version === "" || versionOf(target) === version)
    .filter((target) => matchesText(textsOf(target, clusters), text))
    .sort(
      (one, other) =>
        byUrgency(one.state ?? "Ready", other.state ?? "Ready") ||
        one.name.localeCompare(other.name),
    );
}

function versionOf({ state, version = "" }: Target): string | undefined {
  if (state === undefined) return undefined;
  return version === "" ? noVersion : version;
}

function textsOf(target: Target, clusters: ReadonlyMap<string, FleetCluster>): readonly string[] {
  const { why, version = "", message = "" } = target;
  const labels = labelTexts(clusters.get(clusterKey(target))?.labels ?? {});
  return [clusterKey(target), why, version, message, ...labels];
}
