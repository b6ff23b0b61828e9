/**
 * What the state of a release says between two attempts, and while one of its actions runs, which may take as long as the hooks
 * of a chart.
 */
import { type Clock, formatTime } from "@flotilla/shared/time";
import type { DeploymentResult } from "../../observe/index.ts";
import type { LongAction } from "../action/deploy-pass.ts";

/** An action in progress. */
export interface Running {
  readonly action: LongAction;
  /** The attempt of the installation or upgrade, in a row; 1: the first one. */
  readonly attempt: number;
  /** ms since 1970. */
  readonly sinceMs: number;
}

/** Most actions take less: a report of each would be half of all reports. */
const longMs = 3_000;

const nouns: Readonly<Record<LongAction, string>> = {
  install: "installation",
  upgrade: "upgrade",
  rollback: "rollback",
  uninstall: "uninstallation",
  test: "tests",
};

/** As "attempt 2 of the upgrade is running since 2026-01-01T00:00:00Z". */
export function runningText({ action, attempt, sinceMs }: Running): string {
  const verb = action === "test" ? "are running" : "is running";
  const isAttempt = action === "install" || action === "upgrade";
  const which = isAttempt && attempt > 1 ? `attempt ${attempt} of the` : "the";
  return `${which} ${nouns[action]} ${verb} since ${formatTime(sinceMs)}`;
}

/** A result whose message says what is true now: which action runs, when the next attempt is, or since when it is due. */
export function resultNow(
  result: DeploymentResult,
  running: Running | undefined,
  nowMs: number,
): DeploymentResult {
  if (running !== undefined) return whileRunning(result, running);
  if (result.kind === "deployed" || result.retryAt === undefined) return result;
  const { message, retryAt } = result;
  const next =
    untilDueMs(result, nowMs) === undefined
      ? `the next attempt is due since ${retryAt}, and begins as soon as the agent has a free worker`
      : `retrying at ${retryAt}`;
  return { ...result, message: `${message}; ${next}` };
}

/**
 * How long the time of the retry may still be named; undefined: it has passed, or there is none. With a free worker the next attempt has
 * begun by then.
 */
export function untilDueMs(result: DeploymentResult, nowMs: number): number | undefined {
  if (result.kind === "deployed" || result.retryAt === undefined) return undefined;
  const leftMs = Date.parse(result.retryAt) + longMs - nowMs;
  return leftMs > 0 ? leftMs : undefined;
}

/** A failure stays reported, without the time of the attempt that runs already. */
function whileRunning(result: DeploymentResult, running: Running): DeploymentResult {
  const text = runningText(running);
  if (result.kind === "pending") return { kind: "pending", message: text };
  if (result.kind !== "failed") return result;
  const { retryAt: _, ...failed } = result;
  return { ...failed, message: `${text}; before: ${result.message}` };
}

export interface RunningDeps {
  readonly statuses: { readonly report: (id: string) => void };
  readonly clock: Clock;
}

/** How far the action on a release is. */
interface RunningProgress {
  readonly result: DeploymentResult;
  running?: Running;
}

/** How far one pass is. */
export interface PassProgress {
  readonly began: (action: LongAction) => void;
  /** Nothing runs any more. */
  readonly ended: () => void;
}

/** Reports actions that take long, and those after a failure at once. `failures`: in a row, before this pass. */
export function passProgress(
  { statuses, clock }: RunningDeps,
  id: string,
  own: RunningProgress,
  failures: () => number,
): PassProgress {
  let timer: ReturnType<Clock["setTimeout"]> | undefined;
  return {
    began(action) {
      timer?.cancel();
      own.running = { action, attempt: failures() + 1, sinceMs: clock.now() };
      if (own.result.kind === "failed") statuses.report(id);
      else timer = clock.setTimeout(() => statuses.report(id), longMs);
    },
    ended() {
      timer?.cancel();
      delete own.running;
    },
  };
}
