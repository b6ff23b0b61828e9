/** What is told of an attempt to resolve what a HelmOp asks for. Pure. */
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";
import type { AppError } from "@flotilla/shared/errors/app-error.ts";
import { entryFor, wantedBy } from "../frontend/charts.ts";
import { pollingIntervalMs } from "../resolve/polling.ts";
import type { HandledRequests } from "../resolve/requests.ts";
import { type ChartResolution, notesOn } from "../resolve/resolve-charts.ts";
import type { HelmOpIntent, PollOutcome, Stall } from "../status/intent.ts";

export interface Attempt {
  readonly resolution: ChartResolution;
  /** What else is to be known of the HelmOp, as sentences. */
  readonly remarks: readonly string[];
  /** RFC 3339: when repositories are asked again, if they are. */
  readonly nextAt: string | undefined;
  /** RFC 3339: when they were asked; undefined when they were not. */
  readonly attemptedAt: string | undefined;
  /** They were asked because somebody asked for it. */
  readonly isAsked: boolean;
  readonly handled: HandledRequests;
  /** The last poll before this. */
  readonly earlier: PollOutcome | undefined;
}

export function attemptIntent(helmOp: HelmOp, attempt: Attempt): HelmOpIntent {
  const { pins, failure } = attempt.resolution;
  const own = entryFor(pins, wantedBy(helmOp.spec.helm ?? {}))?.pin;
  const problem = failure && `${failure.error.message}${nextText(attempt.nextAt)}`;
  const refusal =
    failure?.isPinned === false ? `could not get a chart version: ${problem}` : undefined;
  const polled = pollOutcome(helmOp, problem, attempt);
  const stalled = stallOf(refusal ?? problem ?? polled?.error, attempt);
  return {
    ...acceptedIntent(helmOp, refusal, [...notesOn(pins), ...attempt.remarks]),
    ...(own !== undefined && { version: own.kind === "tarball" ? "" : own.version }),
    ...(polled !== undefined && { polled }),
    ...(stalled !== undefined && { stalled }),
    handled: attempt.handled,
  };
}

/** One that is not attempted. What somebody asked for meanwhile is done once it can be. */
export function refusedIntent(
  helmOp: HelmOp,
  refusal: AppError,
  {
    remarks,
    handled,
    isAsked,
    earlier,
  }: Pick<Attempt, "remarks" | "handled" | "isAsked" | "earlier">,
): HelmOpIntent {
  const { message } = refusal;
  const polled = withoutNext(keptPoll(helmOp, earlier));
  return {
    ...acceptedIntent(helmOp, message, remarks),
    ...(polled !== undefined && { polled }),
    stalled: { reason: isAsked ? "RequestFailed" : "Stalled", message },
    handled,
  };
}

/** `refusal`: why it is not carried out; undefined when it is. */
function acceptedIntent(
  helmOp: HelmOp,
  refusal: string | undefined,
  remarks: readonly string[],
): HelmOpIntent {
  const generation = helmOp.metadata.generation ?? 0;
  if (refusal !== undefined)
    return {
      generation,
      accepted: { ok: false, message: [refusal, ...remarks].join("; ") },
    };
  return {
    generation,
    accepted: { ok: true, ...(remarks.length > 0 && { message: remarks.join("; ") }) },
  };
}

function nextText(nextAt: string | undefined): string {
  return nextAt === undefined ? "" : `; it is tried again at ${nextAt}`;
}

/** For what is tried no more: the status keeps no more than the sentence. */
function withoutNext(polled: PollOutcome | undefined): PollOutcome | undefined {
  return polled?.error === undefined
    ? polled
    : { ...polled, error: polled.error.replace(/; it is tried again at \S+$/, "") };
}

/** The last poll's outcome: this attempt's, or between two polls that of the last one. */
function pollOutcome(
  helmOp: HelmOp,
  problem: string | undefined,
  { attemptedAt, earlier }: Attempt,
): PollOutcome | undefined {
  return keptPoll(
    helmOp,
    attemptedAt === undefined
      ? earlier
      : { at: attemptedAt, ...(problem !== undefined && { error: problem }) },
  );
}

/** The outcome of the last poll, for as long as there is polling. */
export function keptPoll(helmOp: HelmOp, last: PollOutcome | undefined): PollOutcome | undefined {
  return pollingIntervalMs(helmOp) === undefined ? undefined : last;
}

function stallOf(problem: string | undefined, { isAsked }: Attempt): Stall | undefined {
  return problem === undefined
    ? undefined
    : { reason: isAsked ? "RequestFailed" : "Stalled", message: problem };
}
