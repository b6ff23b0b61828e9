/** Why a strategy with stages cannot be used, as a sentence with the field and what to change. Pure. */
import {
  type GateType,
  gateTypes,
  maxGateConfigBytes,
  maxGates,
  maxStages,
  type RolloutStage,
  type RolloutStrategy,
  type StageGate,
} from "@flotilla/shared/api";
import { parseGoDuration } from "@flotilla/shared/time";
import type { ReleaseSpec } from "../frontend/planned-release.ts";
import { windowsProblem } from "../schedule/windows-problem.ts";
import { selectorProblem } from "../targeting/selector-problem.ts";
import { hasCriteria, isCountOrShare, isStaged, stagesOf } from "./stages.ts";

/** The limit of the criteria and contents that a BundleRollout pins, in bytes of JSON. */
export const maxPinnedBytes = 256 * 1024;

const namePattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const longestName = 40;

/** Fleet's fields that say an order, or a pace, of their own. */
const partitionFields = [
  "partitions",
  "autoPartitionSize",
  "autoPartitionThreshold",
  "maxUnavailablePartitions",
  "maxNew",
] as const;

/** Gates that this version does not have, and what to do instead. */
const unsupportedGates: ReadonlyMap<GateType, string> = new Map([
  ["Lifecycle", "use a gate `external`, which any controller can decide"],
]);

/**
 * The first thing that is wrong; undefined for a strategy that can be used, and for one without stages. `field`: where it is. A
 * RolloutPolicy that it names is judged where that is resolved.
 */
export function stagesProblem(
  spec: ReleaseSpec,
  field = "spec.rolloutStrategy",
): string | undefined {
  const { rolloutStrategy: strategy } = spec;
  const named =
    policyProblem(strategy) ?? (isStaged(strategy) ? undefined : unstagedProblem(strategy));
  if (named !== undefined || !isStaged(strategy))
    return named === undefined ? undefined : `${field}.${named}`;
  const problem =
    combinationProblem(spec, strategy) ??
    numberProblem(strategy) ??
    durationProblem("progressDeadline", strategy.progressDeadline) ??
    stageListProblem(strategy, spec);
  return problem === undefined ? undefined : `${field}.${problem}`;
}

/** The strategy is the RolloutPolicy's, so that whatever else is set would be ignored. */
function policyProblem(strategy: RolloutStrategy | null | undefined): string | undefined {
  if (!strategy?.policy) return undefined;
  const { policy, ...others } = strategy;
  const other = Object.entries(others).find(([, value]) => value !== undefined && value !== null);
  return other === undefined
    ? undefined
    : `policy is ${policy}, and ${other[0]} is set beside it, which would be ignored: remove one of them`;
}

/** Fields that say nothing without stages. */
const stagedFields = ["progressDeadline", "onNewRevision", "rollback", "historyLimit"] as const;

/** What a strategy asks for that would be ignored. */
function unstagedProblem(strategy: RolloutStrategy | null | undefined): string | undefined {
  const field = stagedFields.find((each) => strategy?.[each] !== undefined);
  return field === undefined
    ? undefined
    : `${field} is set without stages, maxFailures and onFailure, and would be ignored: set one of these, or remove it`;
}

function combinationProblem(spec: ReleaseSpec, strategy: RolloutStrategy): string | undefined {
  for (const field of partitionFields) {
    const value = strategy[field];
    if (value === undefined || value === null || (Array.isArray(value) && value.length === 0))
      continue;
    return `${field} is set together with stages, maxFailures or onFailure, and both say an order or a pace: remove one of them`;
  }
  if (spec.targetCustomizationMode === "AllMatches")
    return "stages cannot be used with targetCustomizationMode AllMatches in this version of Flotilla: what a cluster gets is pinned by its target; use FirstMatch";
  return undefined;
}

function numberProblem(
  limits: Pick<RolloutStrategy, "maxUnavailable" | "maxFailures">,
): string | undefined {
  const { maxUnavailable, maxFailures } = limits;
  if (maxUnavailable !== undefined && maxUnavailable !== null) {
    if (!isCountOrShare(maxUnavailable)) return notACount("maxUnavailable", maxUnavailable);
    if (Number(maxUnavailable) === 0)
      return "maxUnavailable is 0, with which no cluster could be promoted: set 1 or more, or pause the app";
    if (isNegative(maxUnavailable))
      return `maxUnavailable is ${maxUnavailable}: set 1 or more, or a share such as 10%`;
  }
  if (maxFailures === undefined) return undefined;
  return isCountOrShare(maxFailures) && !isNegative(maxFailures)
    ? undefined
    : notACount("maxFailures", maxFailures);
}

function isNegative(value: number | string): boolean {
  return String(value).startsWith("-");
}

function notACount(field: string, value: number | string): string {
  return `${field} is ${JSON.stringify(value)}: set a whole number, or a share such as 10%`;
}

function durationProblem(field: string, value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  const ms = parseGoDuration(value);
  return ms !== undefined && ms >= 0 && ms <= longestMs
    ? undefined
    : `${field} is ${JSON.stringify(value)}: set a duration such as 15m or 1h30m, of at most a year`;
}

/** In all stages: each is a record in the status of the BundleRollout. */
const mostGates = 40;

const longestMs = 366 * 24 * 3_600_000;

function stageListProblem(strategy: RolloutStrategy, spec: ReleaseSpec): string | undefined {
  const stages = stagesOf(strategy);
  if (stages.length > maxStages)
    return `stages has ${stages.length} entries, more than the limit of ${maxStages}: join some`;
  const gates = stages.reduce(
    (sum, { before = [], after = [] }) => sum + before.length + after.length,
    0,
  );
  if (gates > mostGates)
    return `stages have ${gates} gates together, more than the limit of ${mostGates}, which a BundleRollout has room for: join some`;
  const names = new Set<string>();
  for (const [index, stage] of stages.entries()) {
    const path = `stages[${index}]`;
    if (names.has(stage.name))
      return `${path}.name is ${stage.name}, the name of an earlier stage: give it another name`;
    names.add(stage.name);
    if (index < stages.length - 1 && takesAll(stage))
      return `${path} takes every cluster that is left, so that the stages after it get none: give it criteria or upTo, or make it the last one`;
    const problem = stageProblem(stage, spec);
    if (problem !== undefined) return `${path}.${problem}`;
  }
  return undefined;
}

/** Whether nothing is left for the stages after it, whatever clusters there are. */
function takesAll(stage: RolloutStage): boolean {
  if (stage.upTo !== undefined && !["100%"].includes(String(stage.upTo))) return false;
  if (!hasCriteria(stage)) return true;
  const { clusterName, clusterGroup, clusterGroupSelector, clusterSelector } = stage;
  const others = [clusterName, clusterGroup, clusterGroupSelector];
  const isEmpty =
    Object.keys(clusterSelector?.matchLabels ?? {}).length === 0 &&
    (clusterSelector?.matchExpressions ?? []).length === 0;
  return isEmpty && !others.some((each) => each !== undefined && each !== null && each !== "");
}

function stageProblem(stage: RolloutStage, spec: ReleaseSpec): string | undefined {
  const { name, upTo, minSuccess } = stage;
  const wrongName = nameProblem(name);
  if (wrongName !== undefined) return wrongName;
  for (const field of ["clusterSelector", "clusterGroupSelector"] as const) {
    const problem = selectorProblem(stage[field] ?? {});
    if (problem !== undefined) return `${field} cannot be used: ${problem}`;
  }
  if (upTo !== undefined && (!isCountOrShare(upTo) || isNegative(upTo)))
    return notACount("upTo", upTo);
  if (stage.spreadBy && upTo === undefined)
    return "spreadBy is set without upTo, and orders nothing: set upTo as well, or remove it";
  if (minSuccess !== undefined && minSuccess < 0)
    return `minSuccess is ${minSuccess}: set 0 or more`;
  return (
    numberProblem(stage) ??
    durationProblem("progressDeadline", stage.progressDeadline) ??
    windowsProblem(stage.windows) ??
    gatesProblem(stage, spec)
  );
}

function nameProblem(name: string): string | undefined {
  return namePattern.test(name) && name.length <= longestName
    ? undefined
    : `name is ${JSON.stringify(name)}: use up to ${longestName} lower case letters, digits and -`;
}

function gatesProblem(stage: RolloutStage, spec: ReleaseSpec): string | undefined {
  const names = new Set<string>();
  for (const when of ["before", "after"] as const) {
    const gates = stage[when] ?? [];
    if (gates.length > maxGates)
      return `${when} has ${gates.length} gates, more than the limit of ${maxGates}: join some`;
    for (const [index, gate] of gates.entries()) {
      const path = `${when}[${index}]`;
      if (names.has(gate.name))
        return `${path}.name is ${gate.name}, the name of an earlier gate of the stage: give it another name`;
      names.add(gate.name);
      const problem = gateProblem(gate, spec);
      if (problem !== undefined) return `${path}.${problem}`;
      if (when === "after" && gate.approval?.plan === true)
        return `${path}.approval.plan is after the stage, when its clusters have the revision already: move it to before`;
      if (when === "before" && (gate.soak !== undefined || gate.test !== undefined))
        return `${path}.${gate.soak === undefined ? "test" : "soak"} is before the stage, when nothing of it is promoted yet: move it to after`;
    }
  }
  return undefined;
}

function gateProblem(gate: StageGate, spec: ReleaseSpec): string | undefined {
  const set = Object.keys(gateTypes).filter(
    (field) => gate[field as keyof typeof gateTypes] !== undefined,
  );
  const [field] = set;
  if (set.length !== 1 || field === undefined)
    return `name is ${JSON.stringify(gate.name)}, and the gate has ${set.length === 0 ? "no type" : set.join(" and ")}: set exactly one of ${Object.keys(gateTypes).join(", ")}`;
  const type = gateTypes[field as keyof typeof gateTypes];
  const instead = unsupportedGates.get(type);
  if (instead !== undefined)
    return `${field} is not supported in this version of Flotilla: ${instead}`;
  return (
    nameProblem(gate.name) ??
    durationProblem("timeout", gate.timeout) ??
    durationProblem("soak.for", gate.soak?.for) ??
    approvalProblem(gate) ??
    configProblem(gate) ??
    (gate.window === undefined || gate.window.schedule
      ? undefined
      : "window.schedule is empty: name a Schedule of the namespace") ??
    (gate.test === undefined || runsTests(spec)
      ? undefined
      : "test waits for tests, and no tests run: set spec.test.enable, or remove the gate")
  );
}

function approvalProblem({ approval }: StageGate): string | undefined {
  if (approval?.verify === true && approval.plan !== true)
    return "approval.verify compares what Helm would change with the plan that was approved, and nothing is planned: set approval.plan, or remove it";
  if (approval?.validFor !== undefined && approval.plan !== true)
    return "approval.validFor is the life of an approved plan, and nothing is planned: set approval.plan, or remove it";
  return durationProblem("approval.validFor", approval?.validFor);
}

function configProblem({ external }: StageGate): string | undefined {
  const bytes = Object.entries(external?.config ?? {})
    .flat()
    .reduce((sum, each) => sum + Buffer.byteLength(each), 0);
  return bytes <= maxGateConfigBytes
    ? undefined
    : `external.config has ${bytes} bytes, more than the limit of ${maxGateConfigBytes}: put the rest into an object that it names`;
}

/** Whether the release, or any of its targets, runs tests. */
function runsTests({ test, targets }: ReleaseSpec): boolean {
  return test?.enable === true || (targets ?? []).some((target) => target.test?.enable === true);
}
