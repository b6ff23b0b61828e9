/** Resolves the charts of one object by its state, for HelmOps and for Bundles that were applied by hand. */
import type { BundleDeployment } from "@flotilla/shared/api";
import type { AppError } from "@flotilla/shared/errors";
import type { Store } from "@flotilla/shared/kube/cache";
import {
  done,
  type ReconcileContext,
  type Result,
  requeueAfter,
} from "@flotilla/shared/kube/controller";
import { type KubeObject, keyOf } from "@flotilla/shared/kube/objects";
import type { Pin } from "@flotilla/shared/source";
import type { Resolver } from "@flotilla/shared/source/client";
import type { Clock } from "@flotilla/shared/time";
import { byBundle } from "../../base/index.ts";
import { chartReferences, entryFor } from "../frontend/charts.ts";
import type { PlannedRelease } from "../frontend/planned-release.ts";
import {
  type AttemptInputs,
  type AttemptPlan,
  planAttempt,
  type ResolutionState,
  stateAfter,
  withoutAttempt,
} from "./attempt.ts";
import type { ReleaseAccess } from "./chart-access.ts";
import { failureText, watchAttempt } from "./long-attempt.ts";
import { isFetchFailing, isRunByAny, nextCheckMs } from "./pin-check.ts";
import { createRequestTimes, type Requests } from "./requests.ts";
import { resolveCharts } from "./resolve-charts.ts";

export interface ResolveInputs {
  /** Whose charts are resolved. */
  readonly release: PlannedRelease;
  readonly state: ResolutionState;
  readonly open: Requests;
  readonly access: ReleaseAccess;
  /** Called before the first request to the source for a chart without a pin. */
  readonly onUnknown?: () => void;
  /** Called when an attempt takes long whose last one failed, with its start in ms since 1970. */
  readonly onRetrying?: (startedAtMs: number) => void;
}

/** Where resolving is afterwards: after an attempt, or before one that is not due. */
export interface ResolveResult {
  readonly state: ResolutionState;
  /** Why the attempt failed that was made just now. */
  readonly error?: AppError;
  /** When the source is due again, ms since 1970; undefined: when something changes. */
  readonly nextAtMs: number | undefined;
}

export interface ChartResolver {
  /** Makes the requests to the source that are due, and returns the new state. */
  resolve(
    inputs: ResolveInputs,
    context: Pick<ReconcileContext, "signal" | "withoutWorker">,
  ): Promise<ResolveResult>;
  /** The start of such an attempt, in ms since 1970, while it runs. Only messages name it. */
  retryingSinceMs(object: KubeObject): number | undefined;
}

export interface ChartResolverDeps {
  readonly resolver: Resolver;
  readonly deployments: Store<BundleDeployment>;
  readonly clock: Clock;
  /** Identifies the hub, so that no two hubs poll a repository in the same second. */
  readonly hubId: string;
}

export function createChartResolver(deps: ChartResolverDeps): ChartResolver {
  const { clock, hubId, deployments } = deps;
  const requestedAtMs = createRequestTimes(clock);
  const moment = () => ({ nowMs: clock.now(), hub: hubId });
  const retrying = new Map<string, number>();

  return {
    retryingSinceMs: (object) => retrying.get(idOf(object)),
    async resolve({ access, onUnknown, onRetrying, ...object }, { signal, withoutWorker }) {
      const { release } = object;
      const inputs: AttemptInputs = {
        ...object,
        credentialsVersion: access.version,
        isFetchFailing: deployments.byIndex(byBundle, keyOf(release)).some(isFetchFailing),
        moment: moment(),
        monotonicMs: clock.monotonic(),
        requestedAtMs,
      };
      const plan = planAttempt(inputs);
      const onLong = (startedAtMs: number): void => {
        if (inputs.state.attempt.error === undefined || !isAttempt(plan)) return;
        retrying.set(idOf(release), startedAtMs);
        onRetrying?.(startedAtMs);
      };
      if (plan.isDue && !isAllPinned(release, inputs.state)) onUnknown?.();
      const result = plan.isDue
        ? await attempt(inputs, plan, access, { signal, withoutWorker, onLong })
        : { state: withoutAttempt(inputs) };
      return { ...result, nextAtMs: nextAtMsOf(result.state) };
    },
  };

  async function attempt(
    inputs: AttemptInputs,
    plan: AttemptPlan,
    { settingsFor }: ReleaseAccess,
    { signal, withoutWorker, onLong }: AttemptContext,
  ): Promise<Omit<ResolveResult, "nextAtMs">> {
    const { release, state } = inputs;
    const startedAtMs = clock.now();
    const isUseless = (pin: Pin) => !isRunByAny(deployments.byIndex(byBundle, keyOf(release)), pin);
    const resolve = () =>
      resolveCharts(deps.resolver, {
        release,
        known: state.pins,
        poll: plan.poll,
        follow: plan.follow,
        sharingOf: plan.sharingOf,
        settingsFor,
        ...(plan.checkPins && { isUseless }),
        signal,
      });
    const resolution = await withoutWorker(() => watchAttempt(clock, resolve, onLong)).finally(() =>
      retrying.delete(idOf(release)),
    );
    const error = resolution.failure?.error;
    return {
      state: stateAfter(inputs, plan, { resolution, startedAtMs, moment: moment() }),
      ...(error !== undefined && { error }),
    };
  }

  function nextAtMsOf(state: ResolutionState): number | undefined {
    const nowMs = clock.now();
    const { nextAttemptTime } = state.attempt;
    const times = [
      ...(nextAttemptTime === undefined ? [] : [Date.parse(nextAttemptTime)]),
      ...(state.pinCheck === undefined ? [] : [nowMs + nextCheckMs(state.pinCheck, nowMs)]),
    ];
    return times.length === 0 ? undefined : Math.min(...times);
  }
}

interface AttemptContext extends Pick<ReconcileContext, "signal" | "withoutWorker"> {
  readonly onLong: (startedAtMs: number) => void;
}

/** Looking up pins again is none. */
function isAttempt({ checkPins, poll }: AttemptPlan): boolean {
  return poll || !checkPins;
}

/** A Bundle that was applied by hand may have the key of a HelmOp. */
function idOf({ metadata }: KubeObject): string {
  return metadata.uid ?? keyOf({ metadata });
}

/** Reconciles again at a time, in ms since 1970; undefined: when something changes. */
export function requeueAt(atMs: number | undefined, nowMs: number): Result {
  return atMs === undefined ? done() : requeueAfter(Math.max(0, atMs - nowMs), "resolve");
}

/** Whether each chart reference has a pin, so that the object can be deployed. */
export function isAllPinned(
  release: PlannedRelease,
  { pins }: Pick<ResolutionState, "pins">,
): boolean {
  return chartReferences(release).every((reference) => entryFor(pins, reference) !== undefined);
}

/**
 * Why the last attempt failed, in the words of Fleet, and when the next one is made; or its start, in ms since 1970, if it is running
 * and takes long.
 */
export function attemptText(
  { attempt }: Pick<ResolutionState, "attempt">,
  startedAtMs?: number,
): string {
  const { error = "", nextAttemptTime } = attempt;
  const text = `could not get a chart version: ${error}`;
  return failureText(text, { retryAt: nextAttemptTime, startedAtMs });
}
