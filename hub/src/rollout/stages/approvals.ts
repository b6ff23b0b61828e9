/**
 * Whether somebody approved what a stage gives to clusters that a Policy protects. By what is stored, and not by the strategy, which the
 * author of the app may change at any time: a gate that is added later has passed nothing. Pure.
 */
import type { RolloutStage } from "@flotilla/shared/api";
import type { BundleRolloutStatus, GateRecord } from "@flotilla/shared/api/rollout";
import { gateDigest } from "./gate.ts";
import { clustersText, named, namesText } from "./waiting.ts";

/**
 * What decides which clusters the stages up to this one take. It is a part of the digest of their gates: an approval does not count for
 * a stage that takes other clusters by now.
 */
export function selectionOf(stages: readonly RolloutStage[], name: string): readonly unknown[] {
  const index = stages.findIndex((stage) => stage.name === name);
  return stages
    .slice(0, index + 1)
    .map(({ clusterName, clusterSelector, clusterGroup, clusterGroupSelector, upTo, spreadBy }) => [
      ...[clusterName ?? null, clusterSelector ?? null],
      ...[clusterGroup ?? null, clusterGroupSelector ?? null, upTo ?? null, spreadBy ?? null],
    ]);
}

/** Whether an approval before the stage of this name has passed for this revision. `stage` undefined: a cluster in none, which has none. */
export function isStageApproved(
  stages: readonly RolloutStage[],
  stage: string | undefined,
  {
    revision,
    stored,
  }: { readonly revision: string; readonly stored: BundleRolloutStatus | undefined },
): boolean {
  if (stage === undefined) return false;
  const subject = {
    revision,
    stage,
    when: "Before",
    selection: selectionOf(stages, stage),
  } as const;
  const records = stored?.stages?.find(({ name }) => name === stage)?.gates ?? [];
  const { before = [] } = stages.find(({ name }) => name === stage) ?? {};
  // Each diff is compared with those that were approved, whatever clusters the stage takes.
  const isOfPlan = ({ name, plan }: GateRecord): boolean =>
    plan !== undefined && before.some((gate) => gate.name === name && gate.approval?.plan === true);
  return records.some(
    (record) =>
      record.type === "Approval" &&
      record.when === "Before" &&
      record.result === "Passed" &&
      (isOfPlan(record) || record.digest === gateDigest(subject, record.name)),
  );
}

/** For the author of the app; undefined: no cluster waits for an approval that nothing asks for. */
export function approvalRemark(rollout: string, lacking: readonly string[]): string | undefined {
  if (lacking.length === 0) return undefined;
  const clusters = named(lacking);
  return `a Policy requires an approval before ${clustersText(clusters)}: ${namesText(clusters)}; the rollout ${rollout} began without it, so nothing is promoted there: delete the BundleRollout ${rollout}, and it starts again with its gates`;
}
