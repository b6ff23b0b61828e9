/** Whether repositories are asked now, why, and what others were answered that is good enough. Pure. */
import type { ChartPin } from "@flotilla/shared/api/bundle.ts";
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";
import { entryFor, type WantedChart } from "../frontend/charts.ts";
import { slotOffset, slotUpTo, wholeSeconds } from "./poll-slots.ts";
import {
  type Moment,
  type PollHistory,
  type PollPlan,
  planPoll,
  pollingIntervalMs,
  retryMs,
} from "./polling.ts";
import type { Requests } from "./requests.ts";
import type { Sharing } from "./resolve-charts.ts";

export interface AttemptPlan {
  /** Also for what has a pin. */
  readonly poll: boolean;
  /** Somebody asks: what is found is followed, whatever it is. */
  readonly follow: boolean;
  readonly sharingOf: (wanted: WantedChart) => Sharing;
}

export interface AttemptInputs {
  readonly helmOp: HelmOp;
  readonly known: readonly ChartPin[];
  readonly history: PollHistory;
  readonly open: Requests;
  /** What somebody asked for came to nothing, so it is still to be done. */
  readonly isAskedStill: boolean;
  /** Credentials are others than at the last attempt. */
  readonly hasNewAccess: boolean;
  readonly moment: Moment;
  /** The present on the monotonic clock, which `Sharing` speaks of. */
  readonly monotonicMs: number;
  /** When a request was first seen. */
  readonly occasionSince: (value: string) => number;
}

/** Of the time that a retry has waited, the last part in which somebody else's answer is as good. */
const sharedPartOfRetry = 1 / 8;

/** An answer from just before a moment is as good as one from it: the two clocks do not agree to the millisecond. */
const slotToleranceMs = 500;
const slotTolerancePart = 0.1;

export function planAttempt(inputs: AttemptInputs): AttemptPlan {
  const { helmOp, known, history, open, isAskedStill, moment, monotonicMs } = inputs;
  const plan = planPoll(helmOp, history, moment);
  const follow = open.reconcile !== undefined || isAskedStill;
  const isSlot = plan.kind === "due" && !plan.isFirst;
  const occasion = occasionOf(inputs);
  const intervalMs = pollingIntervalMs(helmOp);
  return {
    poll: follow || open.poll !== undefined || plan.kind === "due" || isMended(inputs, plan),
    follow,
    sharingOf(wanted) {
      if (occasion !== undefined) return occasion;
      if (history.failures > 0 && (follow || entryFor(known, wanted) === undefined))
        return { since: monotonicMs - retryMs(history.failures) * sharedPartOfRetry };
      if (!isSlot || intervalMs === undefined || entryFor(known, wanted) === undefined) return {};
      const slot = slotUpTo(slotOffset(wanted.repo, moment.hub), intervalMs, moment.nowMs);
      const toleranceMs = Math.min(slotToleranceMs, wholeSeconds(intervalMs) * slotTolerancePart);
      return { since: monotonicMs - (moment.nowMs - slot) - toleranceMs };
    },
  };
}

/** What failed may go well with new credentials; what went well has no need of them. */
function isMended({ hasNewAccess, history }: AttemptInputs, plan: PollPlan): boolean {
  return plan.kind === "later" && hasNewAccess && history.failures > 0;
}

/** What two ask for at once has to be as new as the later of them wants it. */
function occasionOf({ open, occasionSince }: AttemptInputs): Sharing | undefined {
  const values = [open.reconcile, open.poll].filter((value) => value !== undefined);
  if (values.length === 0) return undefined;
  return { since: Math.max(...values.map(occasionSince)), trigger: values.join(" ") };
}
