/** What a step of a staged rollout is made from, and its stages with their members and limits. Pure. */
import type {
  FailureAction,
  RolloutStage,
  RolloutStrategy,
  StageWindow,
} from "@flotilla/shared/api";
import type { BundleRolloutSpec, BundleRolloutStatus } from "@flotilla/shared/api/rollout";
import { parseGoDuration, parseTime } from "@flotilla/shared/time";
import { atLeastOne, roundedDown, stagesOf } from "../../rules/index.ts";
import { isStageApproved, selectionOf } from "./approvals.ts";
import type { ForcedPart } from "./forced-requests.ts";
import type { GateFacts } from "./gate.ts";
import { type ClassContext, classify, type Member } from "./member.ts";
import { approvals, verifiesPlans } from "./plan-gates.ts";
import type { StageLimits } from "./promote.ts";
import type { StageInput } from "./stage-step.ts";
import { windowsAt } from "./stage-windows.ts";

/** What a step is made from. */
export interface StepInputs {
  /** The name of the BundleRollout. */
  readonly name: string;
  readonly spec: Pick<BundleRolloutSpec, "revision" | "state" | "skip" | "skipStages" | "resume">;
  /** As the API server has it; undefined: no step was stored yet. */
  readonly stored: BundleRolloutStatus | undefined;
  readonly strategy: RolloutStrategy;
  /** All target clusters, in the order of their names. */
  readonly members: readonly Member[];
  /** By key: the stage of a member. */
  readonly assignment: ReadonlyMap<string, string>;
  readonly stable: string | undefined;
  /** The desired revision is the stable one. */
  readonly goesBack: boolean;
  /** Another revision was started. */
  readonly isSuperseded: boolean;
  readonly next: { readonly revision: string; readonly version?: string | undefined } | undefined;
  /** Nothing was to be promoted when it began: every cluster was to have the revision already. */
  readonly isAdopted: boolean;
  /** The Bundle is paused or suspended. */
  readonly isPaused: boolean;
  readonly facts: Omit<GateFacts, "isSettled" | "tests" | "nowMs">;
  /** Why the rollout of a deployment that members depend on does not go on, as a sentence; undefined: it does, or has none. */
  readonly dependencyProblem: (name: string) => string | undefined;
  /** Whether the Schedules of a member and these windows are never open together, though each of them is. */
  readonly isNeverOpenFor: (member: Member, windows: readonly StageWindow[]) => boolean;
  readonly nowMs: number;
}

/** Without `progressDeadline`. */
export const defaultDeadline = "15m";

/** A stage with its members. */
export interface StageParts extends StageInput {
  readonly deadlineMs: number;
  /** What the classes of its members depend on besides themselves. */
  readonly context: ClassContext;
}

/** The stages of the strategy, in order. */
export function stagePartsOf(inputs: StepInputs): readonly StageParts[] {
  const { strategy, stored, spec, name, nowMs } = inputs;
  const stages = stagesOf(strategy);
  const byStage = membersByStage(inputs);
  return stages.map((stage, index) => {
    const state = stored?.stages?.find((each) => each.name === stage.name);
    const window = windowsAt(stage.windows, inputs.facts, nowMs);
    const isSkipped = spec.skipStages?.includes(stage.name) === true;
    const own = byStage.get(stage.name) ?? [];
    const deadline = stage.progressDeadline ?? strategy.progressDeadline ?? defaultDeadline;
    const deadlineMs = parseGoDuration(deadline) ?? 0;
    const context = {
      rollout: name,
      nowMs,
      startedAtMs: parseTime(stored?.startedAt) ?? nowMs,
      resumedAtMs: parseTime(stored?.resumedAt),
      deadlineMs,
      isWindowOpen: window.isOpen,
      isStageSkipped: isSkipped,
      isStageApproved: isStageApproved(stages, stage.name, { revision: spec.revision, stored }),
      isApproved: approvals(stage, state?.gates ?? [], nowMs),
      verifies: verifiesPlans(stage),
    };
    const members = own.map((member) => classify(member, context));
    const onFailure = stage.onFailure ?? strategy.onFailure ?? "Halt";
    return {
      stage,
      stored: state,
      members,
      isLast: index === stages.length - 1,
      isSkipped,
      limits: limitsOf(
        { stage, strategy, onFailure, accepted: state?.acceptedFailures ?? 0 },
        own.length,
      ),
      onFailure,
      window,
      facts: { ...inputs.facts, nowMs },
      subject: {
        rollout: name,
        revision: spec.revision,
        stage: stage.name,
        selection: selectionOf(stages, stage.name),
      },
      total: inputs.members.length,
      isNeverOpenFor: inputs.isNeverOpenFor,
      dependencyProblem: inputs.dependencyProblem,
      deadlineMs,
      context,
    };
  });
}

/** In the order of the members. Those that are in none are under undefined. */
function membersByStage({
  members,
  assignment,
}: Pick<StepInputs, "members" | "assignment">): ReadonlyMap<string | undefined, readonly Member[]> {
  const byStage = new Map<string | undefined, Member[]>();
  for (const member of members) {
    const stage = assignment.get(member.key);
    const own = byStage.get(stage);
    if (own === undefined) byStage.set(stage, [member]);
    else own.push(member);
  }
  return byStage;
}

/** The stages in order, and at last the clusters that are in none. */
export function forcedParts(
  inputs: StepInputs,
  parts: readonly StageParts[],
): readonly ForcedPart[] {
  const { members, assignment, strategy, name, stored, nowMs } = inputs;
  const context = {
    rollout: name,
    nowMs,
    startedAtMs: parseTime(stored?.startedAt) ?? nowMs,
    resumedAtMs: undefined,
    deadlineMs: Number.POSITIVE_INFINITY,
    isWindowOpen: true,
    isStageSkipped: false,
    isStageApproved: false,
    isApproved: () => true,
    verifies: false,
  };
  const others = members
    .filter(({ key }) => !assignment.has(key))
    .map((member) => classify(member, context));
  const maxUnavailable = atLeastOne(strategy.maxUnavailable, others.length);
  return [
    ...parts.map((part) => ({ ...part, isWindowOpen: part.window.isOpen })),
    { members: others, limits: { maxUnavailable, maxFailures: 0 }, isWindowOpen: true },
  ];
}

function limitsOf(
  {
    stage,
    strategy,
    onFailure,
    accepted,
  }: {
    readonly stage: RolloutStage;
    readonly strategy: RolloutStrategy;
    readonly onFailure: FailureAction;
    readonly accepted: number;
  },
  total: number,
): StageLimits {
  const allowed = roundedDown(stage.maxFailures ?? strategy.maxFailures ?? 0, total);
  return {
    maxUnavailable: atLeastOne(stage.maxUnavailable ?? strategy.maxUnavailable, total),
    maxFailures: onFailure === "Continue" ? Number.POSITIVE_INFINITY : allowed + accepted,
  };
}
