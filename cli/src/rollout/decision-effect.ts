/** What follows from a decision about a Gate, in numbers, as it is said before somebody is asked. Pure. */
import {
  type BundleRollout,
  type Gate,
  type GateDecision,
  maxNamed,
} from "@flotilla/shared/api/rollout";
import { gateText } from "./decision-refusal.ts";
import {
  clusters,
  countsOf,
  haltText,
  type PromotedClusters,
  rollbackText,
  rolloutText,
  stageNamed,
} from "./rollout-words.ts";

export interface DecisionFacts {
  readonly gate: Gate;
  /** Undefined: the user may not read it, or it is gone. */
  readonly rollout: BundleRollout | undefined;
  /** What a failed gate of the stage leads to; undefined: the user may not read the strategy. */
  readonly onFailure: "Halt" | "Rollback" | undefined;
  /** Undefined: the deployments were not read, or may not be. */
  readonly promoted?: PromotedClusters | undefined;
}

export function decisionEffect(result: GateDecision["result"], facts: DecisionFacts): string {
  const { gate, rollout } = facts;
  const what = gateText(gate);
  if (rollout === undefined) {
    const { count } = gate.spec.clusters;
    return result === "Passed"
      ? `passes ${what}, which rollout ${gate.spec.rollout.name} waits for: ${clusters(count)} of the stage do not have it`
      : `fails ${what}, which halts rollout ${gate.spec.rollout.name} or takes it back: ${clusters(count)} of the stage do not have it`;
  }
  const halted =
    rollout.status?.phase === "Halted" ? "; it is halted, and this counts once it goes on" : "";
  return result === "Passed"
    ? `passes ${what} of ${rolloutText(rollout)}: ${passText(gate, rollout)}${halted}`
    : `fails ${what}, which ${failText(facts, rollout)}${halted}`;
}

function failText({ onFailure, promoted }: DecisionFacts, rollout: BundleRollout): string {
  if (onFailure === "Rollback") return rollbackText(rollout, promoted);
  const orBack = onFailure === undefined ? ", or takes it back where onFailure says so" : "";
  return `${haltText(rollout)}${orBack}`;
}

function passText({ spec }: Gate, rollout: BundleRollout): string {
  const { stages = [] } = rollout.status ?? {};
  const waiting = (stageNamed(rollout, spec.stage)?.gates ?? []).filter(
    ({ name, when, result }) => result === "Waiting" && when === spec.when && name !== spec.gate,
  );
  const names = waiting.slice(0, maxNamed).map(({ name }) => name);
  const also =
    names.length === 0
      ? ""
      : ` once ${names.join(", ")} ${names.length === 1 ? "has" : "have"} passed, too`;
  const { count } = spec.clusters;
  if (spec.when === "Before")
    return `${clusters(count)} of stage ${spec.stage} ${count === 1 ? "gets" : "get"} it, within its limits${also}`;
  const later = stages.slice(stages.findIndex(({ name }) => name === spec.stage) + 1);
  const left = later.reduce((sum, each) => sum + leftIn(each), 0);
  const next = later[0]?.name;
  const follows =
    next === undefined
      ? "it is the last one"
      : `stage ${next} is next, and ${left} of ${clusters(countsOf(rollout).total)} ${left === 1 ? "is" : "are"} left`;
  return `stage ${spec.stage} is completed${also}; ${follows}`;
}

type StageNumbers = NonNullable<ReturnType<typeof stageNamed>>;

function leftIn({ total, done, inFlight, failed }: StageNumbers): number {
  return Math.max(0, total - done - inFlight - failed);
}
