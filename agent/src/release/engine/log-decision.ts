/** Logs what was decided about a release, and why: so that an upgrade at three in the morning has an answer. */
import type { Log } from "@flotilla/shared/log";
import type { Action } from "../state/action.ts";
import type { ReleaseReason } from "../state/release-reason.ts";
import type { Desired, ReleaseState } from "../state/release-state.ts";

export interface ReleaseDecision {
  readonly state: ReleaseState;
  readonly reasons: readonly ReleaseReason[];
  readonly action: Action;
}

/** They change nothing. */
const idleActions: ReadonlySet<Action["kind"]> = new Set(["none", "await", "wait"]);

export function logDecision(
  log: Log,
  { owner, namespace, name }: Pick<Desired, "owner" | "namespace" | "name">,
  { state, reasons, action }: ReleaseDecision,
): void {
  const level = idleActions.has(action.kind) ? "debug" : "info";
  const decision = { state: state.kind, reasons: reasons.join(", "), action: action.kind };
  log[level]({ deployment: owner.name, namespace, release: name, ...decision }, "release decided");
}
