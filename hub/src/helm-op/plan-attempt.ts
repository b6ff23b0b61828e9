/** Whether repositories are asked now, why, and how old an answer may be that others got. Pure. */
import type { ChartPin } from "@flotilla/shared/api/bundle.ts";
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";
import type { ResolveOptions } from "@flotilla/shared/charts/resolve.ts";
import { retryMs } from "./next-attempt.ts";
import { entryFor, type WantedChart } from "./plan-bundle.ts";
import { slotOffset, slotUpTo } from "./poll-slots.ts";
import { type Moment, type PollHistory, planPoll, pollingIntervalMs } from "./polling.ts";
import type { Requests } from "./requests.ts";

/** What is asked for a chart may be shared with others who ask for it. */
export type Sharing = Pick<ResolveOptions, "maxAgeMs" | "occasion">;

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
  readonly moment: Moment;
  readonly occasionAgeMs: (value: string) => number;
}

/** Of the time that a retry has waited, the last part in which somebody else's answer is as good. */
const sharedPartOfRetry = 1 / 8;

export function planAttempt(inputs: AttemptInputs): AttemptPlan {
  const { helmOp, known, history, open, isAskedStill, moment } = inputs;
  const plan = planPoll(helmOp, history, moment);
  const follow = open.reconcile !== undefined || isAskedStill;
  const isSlot = plan.kind === "due" && !plan.isFirst;
  const occasion = occasionOf(inputs);
  const intervalMs = pollingIntervalMs(helmOp);
  return {
    poll: follow || open.poll !== undefined || plan.kind === "due",
    follow,
    sharingOf(wanted) {
      if (occasion !== undefined) return occasion;
      if (history.failures > 0 && (follow || entryFor(known, wanted) === undefined))
        return { maxAgeMs: retryMs(history.failures) * sharedPartOfRetry };
      if (!isSlot || intervalMs === undefined || entryFor(known, wanted) === undefined) return {};
      const slot = slotUpTo(slotOffset(wanted.repo, moment.hub), intervalMs, moment.nowMs);
      return { maxAgeMs: moment.nowMs - slot };
    },
  };
}

/** What two ask for at once has to be as new as the later of them wants it. */
function occasionOf({ open, occasionAgeMs }: AttemptInputs): Sharing | undefined {
  const values = [open.reconcile, open.poll].filter((value) => value !== undefined);
  if (values.length === 0) return undefined;
  return { maxAgeMs: Math.min(...values.map(occasionAgeMs)), occasion: values.join(" ") };
}
