/** The steps of a rollout that is taken back: clusters get what they had before, under the limits of their stages. Pure. */
import type { RolloutReason } from "@flotilla/shared/api/rollout";
import { earliest } from "./gate.ts";
import type { Member } from "./member.ts";
import { breachReason, breachText, end, endText, kept } from "./phases.ts";
import { goesBackLater, goesBackUntil, isGoingBack, mayGoBack } from "./rollback.ts";
import { closedWindowText } from "./stage-windows.ts";
import type { Decided } from "./staged-status.ts";
import type { StageParts, StepInputs } from "./step-inputs.ts";
import { clustersText, named, namesText } from "./waiting.ts";

export function goBack(
  inputs: StepInputs,
  parts: readonly StageParts[],
  reason: RolloutReason,
): Decided {
  const same = kept(inputs);
  const count = parts
    .flatMap(({ members }) => members)
    .filter(({ member }) => mayGoBack(member, inputs.name)).length;
  return {
    ...same,
    phase: "RollingBack",
    reason,
    message: `${count} clusters get back what they had before`,
  };
}

/** A rollback that nothing is promoted in, because a person asked for that; undefined: it goes on. */
export function standingBack({ spec, isPaused }: StepInputs, same: Decided): Decided | undefined {
  if (isPaused) return { ...same, reason: "Paused", message: "paused: the rollback stands still" };
  if (spec.state !== "Halted") return undefined;
  const message =
    "halted by spec.state: no cluster gets back what it had; to go on with the rollback, set it to RolledBack or Running";
  return { ...same, reason: "Paused", message };
}

/** Why it goes back, whatever it has waited for meanwhile. */
function backReason({ goesBack }: StepInputs, { breach, reason }: Decided): RolloutReason {
  if (reason !== undefined && reason !== "Paused") return reason;
  if (breach !== undefined) return breachReason(breach);
  return goesBack ? "StableRequested" : "Requested";
}

export function stepBack(inputs: StepInputs, parts: readonly StageParts[]): Decided {
  const before = kept(inputs);
  const same = { ...before, reason: backReason(inputs, before) };
  const { left, later, busy, wakesAtMs } = goingBack(inputs, parts);
  if (left.length === 0 && busy.length === 0) {
    const { reason } = same;
    return reason === "StableRequested" || inputs.goesBack
      ? end(same, "Superseded", "StableRequested")
      : { ...end(same, "RolledBack", reason), message: backText(same, later) };
  }
  const keys = [...left, ...busy].map(({ key }) => key);
  const closed = parts.filter(
    (part) =>
      !mayGoBackNow(inputs, part) && part.members.some(({ member }) => left.includes(member)),
  );
  const texts = closed.flatMap(({ window }) => window.closed ?? []).map(closedWindowText);
  return {
    ...same,
    message: [
      `${left.length} clusters still have the revision, ${busy.length} are not ready yet: ${named(keys).first.join(", ")}`,
      ...new Set(texts),
    ].join("; "),
    wakesAtMs: earliest([wakesAtMs, ...closed.map(({ window }) => window.changesAtMs)]),
  };
}

/** Rolled back: clusters that were not connected get back what they had when they return, under the same limits. */
export function stayBack(inputs: StepInputs, parts: readonly StageParts[], same: Decided): Decided {
  const { left, later, wakesAtMs } = goingBack(inputs, parts);
  return { ...same, message: backText(same, [...left, ...later]), wakesAtMs };
}

/** `left`: they still have the revision. `later`: as well, until they are connected. `busy`: they have gone back and are not ready. */
function goingBack(inputs: StepInputs, parts: readonly StageParts[]) {
  const members = parts.flatMap((part) =>
    part.members.map((each) => ({ ...each, context: backContext(inputs, part) })),
  );
  const having = members
    .filter(({ member, class: kind }) => kind !== "skipped" && mayGoBack(member, inputs.name))
    .map(({ member }) => member);
  const busy = members.filter(({ member, context }) => isGoingBack(member, context));
  return {
    left: having.filter((member) => !goesBackLater(member)),
    later: having.filter(goesBackLater),
    busy: busy.map(({ member }) => member),
    wakesAtMs: earliest(busy.map(({ member, context }) => goesBackUntil(member, context))),
  };
}

/** Going back is quick: only where the strategy says so does it wait for the windows of a stage. */
export function mayGoBackNow({ strategy }: StepInputs, { window }: StageParts): boolean {
  return strategy.rollback?.respectWindows !== true || window.isOpen;
}

/** `later`: those that get it back when they return. */
function backText({ breach }: Decided, later: readonly Member[]): string {
  const why = breach === undefined ? "" : `${breachText(breach)}: `;
  const text = `${why}${endText("RolledBack", "Requested")}`;
  if (later.length === 0) return text;
  const clusters = named(later.map(({ key }) => key));
  return `${text}; ${clustersText(clusters)} ${later.length === 1 ? "follows" : "follow"} once connected: ${namesText(clusters)}`;
}

export function backContext({ name, nowMs }: StepInputs, { deadlineMs }: StageParts) {
  return { rollout: name, nowMs, deadlineMs };
}
