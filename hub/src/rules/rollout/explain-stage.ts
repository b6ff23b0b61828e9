/** Why a cluster is in its stage, in words. Pure. */
import type { RolloutStage } from "@flotilla/shared/api";
import { criteriaText } from "../targeting/explain.ts";
import type { TargetGroup } from "../targeting/match.ts";
import { hasCriteria, matchesStage, type StagedCluster } from "./stages.ts";

/**
 * `assigned`: the stage that the cluster is in; undefined: none. Names the first stage before it that matches the cluster and had
 * taken as many as it takes.
 */
export function explainStage(
  cluster: StagedCluster,
  {
    stages,
    assigned,
    groups,
  }: {
    readonly stages: readonly RolloutStage[];
    readonly assigned: string | undefined;
    readonly groups: readonly TargetGroup[];
  },
): string {
  const index = stages.findIndex(({ name }) => name === assigned);
  const before = index === -1 ? stages : stages.slice(0, index);
  const full = before.find((stage) => matchesStage(stage, cluster, groups));
  const passed =
    full === undefined ? "" : `stage ${full.name} takes ${String(full.upTo)}, and not this one`;
  const stage = stages[index];
  if (stage === undefined) return passed === "" ? "no stage matches it" : passed;
  const why = hasCriteria(stage)
    ? `stage ${stage.name} matches it: ${criteriaText(stage)}`
    : `stage ${stage.name} takes all that are left`;
  return passed === "" ? why : `${why}; ${passed}`;
}
