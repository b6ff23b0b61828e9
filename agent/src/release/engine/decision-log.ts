/**
 * Logs what was decided about a release, and why: so that an upgrade at three in the morning has an answer, and so has one that did
 * not begin.
 */
import type { Log } from "@flotilla/shared/log";
import type { ReleaseKey } from "../../helm/index.ts";
import type { ReleaseOwner } from "../../state/index.ts";
import type { Action } from "../state/action.ts";
import type { ReleaseReason } from "../state/release-reason.ts";
import type { ReleaseState } from "../state/release-state.ts";

/** What one pass over a release has decided. */
export interface ReleaseDecision {
  /** `withdrawn`: its deployment is deleted, or does not include it any more. `unknown`: its inputs are missing. */
  readonly state: ReleaseState["kind"] | "withdrawn" | "unknown";
  readonly reasons: readonly (ReleaseReason | WithdrawalReason | "InputsMissing")[];
  /** `blocked`: nothing, until the deployments that it depends on change. `leave`: nothing, and the release stays. */
  readonly action: Action["kind"] | "blocked" | "leave" | "deleteHistory";
  /** The deployments of unmet dependencies. */
  readonly waitsFor?: readonly string[];
}

/** Why a release is uninstalled, or why it stays. */
export type WithdrawalReason = "Removed" | "KeepResources" | "Suspended" | "ServiceAccountGone";

/** They wait for a time that is known, or for nothing. */
const idleActions: ReadonlySet<ReleaseDecision["action"]> = new Set(["none", "await", "wait"]);

/** They change nothing, and are decided again with each pass until something else changes. */
const reportedActions: ReadonlySet<ReleaseDecision["action"]> = new Set([
  ...(["blocked", "stop", "locked", "conflict", "foreign"] as const),
]);

/**
 * One line for each decision. At the level `info` is what changes a release, each time, and what prevents a change, once: until it
 * differs from the decision before, or the agent restarts. The rest is at the level `debug`.
 */
export class DecisionLog {
  readonly #log: Log;
  /** The last decision, as a text, by the id of its release. */
  readonly #last = new Map<string, string>();

  constructor(log: Log) {
    this.#log = log;
  }

  decided({ id, name }: ReleaseOwner, release: ReleaseKey, decision: ReleaseDecision): void {
    const { state, reasons, action, waitsFor = [] } = decision;
    const line = {
      deployment: name,
      namespace: release.namespace,
      release: release.name,
      state,
      reasons: reasons.join(", "),
      action,
      ...(waitsFor.length > 0 && { waitsFor: waitsFor.join(", ") }),
    };
    const text = JSON.stringify(line);
    const isRepeated = reportedActions.has(action) && this.#last.get(id) === text;
    this.#last.set(id, text);
    const level = idleActions.has(action) || isRepeated ? "debug" : "info";
    this.#log[level](line, "release decided");
  }

  /** The release is withdrawn. */
  forget(id: string): void {
    this.#last.delete(id);
  }
}
