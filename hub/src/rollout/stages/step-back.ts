/** The steps of a rollout that is taken back: clusters get what they had before, under the limits of their stages. Pure. */
import type { RolloutReason } from "@flotilla/shared/api/rollout";
import { parseGoDuration } from "@flotilla/shared/time";
import { atLeastOne } from "../../rules/index.ts";
import { earliest } from "./gate.ts";
import type { ClassedMember, Member } from "./member.ts";
import { breachReason, breachText, end, endText, kept } from "./phases.ts";
import {
  goesBackLater,
  goesBackUntil,
  isGoingBack,
  mayGoBack,
  type RollbackContext,
} from "./rollback.ts";
import { closedWindowText, type StageWindows } from "./stage-windows.ts";
import type { Decided } from "./staged-status.ts";
import { defaultDeadline, forcedParts, type StageParts, type StepInputs } from "./step-inputs.ts";
import { clustersText, named, namesText } from "./waiting.ts";

/** The members of a stage, or all that are in none any more: what goes back under one limit. */
export interface RollbackPart {
  readonly members: readonly ClassedMember[];
  readonly context: RollbackContext;
  readonly maxUnavailable: number;
  /** Undefined: what is in no stage has none. */
  readonly window: StageWindows | undefined;
  /** Going back is quick: only where the strategy says so does it wait for the windows of a stage. */
  readonly isOpen: boolean;
}

/** The stages in order, and at last the clusters that none of them takes: the strategy or their labels may have changed since. */
export function rollbackParts(
  inputs: StepInputs,
  parts: readonly StageParts[],
): readonly RollbackPart[] {
  const { strategy, name, nowMs } = inputs;
  const { respectWindows, maxUnavailable } = strategy.rollback ?? {};
  const mostOf = ({ members, limits }: Pick<StageParts, "members" | "limits">) =>
    (maxUnavailable ?? undefined) === undefined
      ? limits.maxUnavailable
      : atLeastOne(maxUnavailable, members.length);
  const deadlineMs = parseGoDuration(strategy.progressDeadline ?? defaultDeadline) ?? 0;
  return [
    ...parts.map((part) => ({
      members: part.members,
      context: { rollout: name, nowMs, deadlineMs: part.deadlineMs },
      maxUnavailable: mostOf(part),
      window: part.window,
      isOpen: respectWindows !== true || part.window.isOpen,
    })),
    ...forcedParts(inputs, parts)
      .slice(parts.length)
      .map((part) => ({
        members: part.members,
        context: { rollout: name, nowMs, deadlineMs },
        maxUnavailable: mostOf(part),
        window: undefined,
        isOpen: true,
      })),
  ];
}

export function goBack(
  inputs: StepInputs,
  parts: readonly StageParts[],
  reason: RolloutReason,
): Decided {
  const count = rollbackParts(inputs, parts)
    .flatMap(({ members }) => members)
    .filter(({ member }) => mayGoBack(member, inputs.name)).length;
  return {
    ...kept(inputs),
    phase: "RollingBack",
    reason,
    message: `${count} clusters get back what they had before`,
  };
}

/** A rollback in which nothing is promoted, because a person asked for that; undefined: it goes on. */
export function standingBack({ spec, isPaused }: StepInputs, same: Decided): Decided | undefined {
  if (isPaused) return { ...same, reason: "Paused", message: "paused: the rollback stands still" };
  if (spec.state !== "Halted") return undefined;
  const message =
    "halted by spec.state: no cluster gets back what it had; to go on with the rollback, set it to RolledBack or Running";
  return { ...same, reason: "Paused", message };
}

export function stepBack(inputs: StepInputs, stages: readonly StageParts[]): Decided {
  const before = kept(inputs);
  const same = { ...before, reason: backReason(inputs, before) };
  const parts = rollbackParts(inputs, stages);
  const { left, later, busy, wakesAtMs } = goingBack(inputs.name, parts);
  if (left.length === 0 && busy.length === 0) {
    const { reason } = same;
    return reason === "StableRequested" || inputs.goesBack
      ? end(same, "Superseded", "StableRequested")
      : { ...end(same, "RolledBack", reason), message: backText(same, later) };
  }
  const keys = [...left, ...busy].map(({ key }) => key);
  const waiting = new Set(left);
  const closed = parts.filter(
    ({ isOpen, members }) => !isOpen && members.some(({ member }) => waiting.has(member)),
  );
  const texts = closed.flatMap(({ window }) => window?.closed ?? []).map(closedWindowText);
  return {
    ...same,
    message: [
      `${left.length} clusters still have the revision, ${busy.length} are not ready yet: ${named(keys).first.join(", ")}`,
      ...new Set(texts),
    ].join("; "),
    wakesAtMs: earliest([wakesAtMs, ...closed.map(({ window }) => window?.changesAtMs)]),
  };
}

/** Rolled back: clusters that were not connected get back what they had when they return, under the same limits. */
export function stayBack(
  inputs: StepInputs,
  stages: readonly StageParts[],
  same: Decided,
): Decided {
  const { left, later, wakesAtMs } = goingBack(inputs.name, rollbackParts(inputs, stages));
  return { ...same, message: backText(same, [...left, ...later]), wakesAtMs };
}

/** Why it goes back, whatever it has waited for meanwhile. */
function backReason({ goesBack }: StepInputs, { breach, reason }: Decided): RolloutReason {
  if (reason !== undefined && reason !== "Paused") return reason;
  if (breach !== undefined) return breachReason(breach);
  return goesBack ? "StableRequested" : "Requested";
}

/** `left`: they still have the revision. `later`: as well, until they are connected. `busy`: they have gone back and are not ready. */
function goingBack(rollout: string, parts: readonly RollbackPart[]) {
  const members = parts.flatMap((part) =>
    part.members.map((each) => ({ ...each, context: part.context })),
  );
  const having = members
    .filter(({ member, class: kind }) => kind !== "skipped" && mayGoBack(member, rollout))
    .map(({ member }) => member);
  const busy = members.filter(({ member, context }) => isGoingBack(member, context));
  return {
    left: having.filter((member) => !goesBackLater(member)),
    later: having.filter(goesBackLater),
    busy: busy.map(({ member }) => member),
    wakesAtMs: earliest(busy.map(({ member, context }) => goesBackUntil(member, context))),
  };
}

/** `later`: those that get it back when they return. */
function backText({ breach }: Decided, later: readonly Member[]): string {
  const why = breach === undefined ? "" : `${breachText(breach)}: `;
  const text = `${why}${endText("RolledBack", "Requested")}`;
  if (later.length === 0) return text;
  const clusters = named(later.map(({ key }) => key));
  return `${text}; ${clustersText(clusters)} ${later.length === 1 ? "follows" : "follow"} once connected: ${namesText(clusters)}`;
}
