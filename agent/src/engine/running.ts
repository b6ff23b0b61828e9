/** What the state of a deployment says while one of its actions runs, which may take as long as the hooks of a chart. */
import { type Clock, formatTime } from "@flotilla/shared/time";
import type { LongAction } from "../action/index.ts";
import type { DeploymentResult } from "../report/index.ts";

/** An action in progress. */
export interface Running {
  readonly action: LongAction;
  /** Of the installation or upgrade, in a row; 1: the first one. */
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

/** A failure stays reported, without the time of the attempt that runs already. */
export function whileRunning(
  result: DeploymentResult,
  running: Running | undefined,
): DeploymentResult {
  if (running === undefined) return result;
  const text = runningText(running);
  if (result.kind === "pending") return { kind: "pending", message: text };
  if (result.kind !== "failed") return result;
  const { retryAt: _, ...failed } = result;
  return { ...failed, message: `${text}; before: ${result.cause ?? result.message}` };
}

export interface RunningDeps {
  readonly statuses: { readonly report: (name: string) => void };
  readonly clock: Clock;
}

/** Of a deployment. */
interface RunningProgress {
  readonly result: DeploymentResult;
  running?: Running;
}

/** Of one pass. */
export interface PassProgress {
  readonly began: (action: LongAction) => void;
  /** Nothing runs any more. */
  readonly ended: () => void;
}

/** Reports actions that take long, and those after a failure at once. `failures`: in a row, before this pass. */
export function passProgress(
  { statuses, clock }: RunningDeps,
  name: string,
  own: RunningProgress,
  failures: () => number,
): PassProgress {
  let timer: ReturnType<Clock["setTimeout"]> | undefined;
  return {
    began(action) {
      timer?.cancel();
      own.running = { action, attempt: failures() + 1, sinceMs: clock.now() };
      if (own.result.kind === "failed") statuses.report(name);
      else timer = clock.setTimeout(() => statuses.report(name), longMs);
    },
    ended() {
      timer?.cancel();
      delete own.running;
    },
  };
}
