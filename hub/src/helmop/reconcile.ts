/** HelmOp to Bundle: validates, resolves, and keeps the Bundle of the HelmOp's name as the HelmOp says. */

import { isDeepStrictEqual } from "node:util";
import type { ChartPin } from "@flotilla/shared/api/bundle.ts";
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";
import type { Policy } from "@flotilla/shared/api/policy.ts";
import { findCondition } from "@flotilla/shared/conditions/condition.ts";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { byNamespace } from "@flotilla/shared/kube/cache/object-index.ts";
import type { Store } from "@flotilla/shared/kube/cache/store.ts";
import {
  done,
  type Reconcile,
  type Result,
  requeueAfter,
} from "@flotilla/shared/kube/controller/reconcile.ts";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/objects/object.ts";
import type { Resolver } from "@flotilla/shared/source/client/source-client.ts";
import type { Pin } from "@flotilla/shared/source/pin.ts";
import type { Clock } from "@flotilla/shared/time/clock.ts";
import { byBundle } from "../cache/indexes.ts";
import { entryFor, wantedCharts } from "../frontend/charts.ts";
import { leftOutLabelRemarks } from "../frontend/ignored-labels.ts";
import { unknownFieldRemarks } from "../frontend/unknown-fields.ts";
import { notCarriedOutRemarks } from "../frontend/unsupported-fields.ts";
import { withDefaults } from "../policy/defaults.ts";
import { mergePolicies } from "../policy/merge-policies.ts";
import type { Patterns } from "../policy/patterns.ts";
import { reportViolation } from "../policy/report-violation.ts";
import { violationOf } from "../policy/violation.ts";
import type { ChartAccess, HelmOpAccess } from "../resolve/chart-access.ts";
import type { Doubts } from "../resolve/doubts.ts";
import { nextAttemptMs, notBeforeMs } from "../resolve/next-attempt.ts";
import type { PinSeals } from "../resolve/pin-signature.ts";
import { type AttemptPlan, planAttempt } from "../resolve/plan-attempt.ts";
import type { PollHistory } from "../resolve/polling.ts";
import { createOccasions } from "../resolve/request-times.ts";
import { handledOf, handledWith, openRequests } from "../resolve/requests.ts";
import { type ChartResolution, resolveCharts } from "../resolve/resolve-charts.ts";
import { isRunByAny } from "../resolve/runs-archive.ts";
import type { HelmOpIntent, PollOutcome } from "../status/intent.ts";
import { attemptIntent, keptPoll, refusedIntent } from "./attempt-intent.ts";
import { addFinalizer, type FinalizerDeps, finish } from "./finalizer.ts";
import { planBundle } from "./plan.ts";
import { type TellDeps, tell, tellBegun, tellFailure, warn } from "./tell.ts";
import { refusalOf } from "./validate.ts";
import { nameTaken, type WriteBundleDeps, writeBundle } from "./write-bundle.ts";

export interface HelmOpDeps extends FinalizerDeps, WriteBundleDeps, TellDeps {
  readonly deployments: Store<BundleDeployment>;
  readonly policies: Store<Policy>;
  readonly patterns: Patterns;
  /** Of its pins, raised by what agents report. */
  readonly doubts: Doubts;
  readonly resolver: Resolver;
  readonly seals: PinSeals;
  readonly access: ChartAccess;
  readonly clock: Clock;
  /** Names the hub, so that no two of them poll a repository in the same second. */
  readonly hubId: string;
}

/** After this, what could not be read at the first look is refused. Its watch most often tells sooner. */
const excuseMs = 5_000;

/**
 * What is remembered of a HelmOp's attempts. Losing it costs an attempt too early; where somebody wrote other pins into its
 * Bundle just then, these are lost too, and its charts are resolved anew.
 */
interface Memory {
  readonly pins: readonly ChartPin[];
  readonly generation: number;
  /** Failures in a row, of this generation. */
  readonly trouble: Trouble;
}

type Trouble = Pick<PollHistory, "failures" | "notBeforeMs">;

export function helmOpReconciler(deps: HelmOpDeps): Reconcile {
  const memories = new Map<ObjectKey, Memory>();
  /** HelmOps whose access could not be read at our first look. */
  const excused = new Set<ObjectKey>();
  const occasions = createOccasions(deps.clock);

  return async function reconcile(key, { signal, withoutWorker }): Promise<Result> {
    const written = deps.helmOps.get(key);
    if (written === undefined || written.metadata.deletionTimestamp !== undefined) {
      memories.delete(key);
      excused.delete(key);
      if (written !== undefined) deps.doubts.forget(key);
      deps.access.forget(key);
      deps.outcomes.helmOps.delete(key);
      if (written !== undefined) await finish(deps, written, signal);
      return done();
    }

    const policy = mergePolicies(
      deps.policies.byIndex(byNamespace, written.metadata.namespace ?? ""),
    );
    const helmOp = withDefaults(policy, written);
    const told = deps.outcomes.helmOps.get(key);
    const earlier = lastPoll(helmOp, told);
    const handledBefore = told?.handled ?? handledOf(helmOp);
    const open = openRequests(helmOp, handledBefore);
    const isAskedAgain = isAskedStill(helmOp, told);
    const unknown = unknownFieldRemarks(helmOp);
    warn(deps, helmOp, unknown);
    const remarks = [...unknown, ...leftOutLabelRemarks(helmOp), ...notCarriedOutRemarks(helmOp)];
    const access =
      refusalOf(helmOp) ??
      violationOf(policy, helmOp, deps.patterns) ??
      nameTaken(deps.bundles.get(key), helmOp) ??
      (await deps.access.of(helmOp).catch(AppError.from));
    if (access instanceof AppError) {
      // Who leads anew has read nothing yet: one answer that did not come takes nothing back that was told.
      if (access.retryable && told === undefined && isAccepted(helmOp) && !excused.has(key)) {
        excused.add(key);
        return requeueAfter(excuseMs, "read what it is accessed with");
      }
      reportViolation(deps.events, helmOp, access, {
        told: told && { generation: told.generation, message: told.accepted?.message ?? "" },
        condition: findCondition(helmOp.status?.conditions, "Accepted"),
      });
      const isAsked = isAskedAgain || open.reconcile !== undefined;
      // What was pushed meanwhile is polled once it can be.
      const { poll: _, ...asked } = open;
      const handled = handledWith(handledBefore, asked);
      tell(deps, helmOp, refusedIntent(helmOp, access, { remarks, handled, isAsked, earlier }));
      return done();
    }

    const known = knownPins(key);
    const trouble = troubleOf(memories.get(key), helmOp);
    const plan = planAttempt({
      helmOp,
      known,
      open,
      isAskedStill: isAskedAgain,
      hasNewAccess: access.hasChanged,
      history: { lastAt: earlier?.at, ...trouble },
      moment: momentOf(deps),
      monotonicMs: deps.clock.monotonic(),
      occasionSince: occasions.since,
    });
    const begunAt = timeText(deps.clock.now());
    if (wantedCharts(helmOp).some((wanted) => entryFor(known, wanted) === undefined))
      tellBegun(deps, helmOp, keptPoll(helmOp, earlier));
    const [resolution] = await Promise.all([
      withoutWorker(() =>
        resolve(helmOp, known, { ...plan, settingsFor: access.settingsFor }, signal),
      ),
      addFinalizer(deps, helmOp, signal),
    ]);
    if (!isSameArchives(resolution.pins, known)) deps.doubts.forget(key);
    // A first resolution that fails is an attempt like any poll, and is told like one. Looking up a doubted pin is none.
    const isAttempt = plan.poll || resolution.failure?.isPinned === false;
    const now = remember(helmOp, resolution, trouble, isAttempt);

    if (resolution.failure === undefined || resolution.failure.isPinned) {
      const bundle = planBundle(helmOp, resolution.pins, access.caBundle);
      await writeBundle(deps, deps.seals.sealed(bundle), signal);
    }
    if (resolution.failure !== undefined) tellFailure(deps, helmOp, resolution.failure.error);
    const attemptedAt = isAttempt ? begunAt : undefined;
    const nextMs = nextAttemptMs(
      helmOp,
      {
        lastAt: attemptedAt ?? earlier?.at,
        ...now,
        failure: resolution.failure,
        isAsked: plan.follow,
      },
      momentOf(deps),
    );
    const nextAt = nextMs === undefined ? undefined : timeText(deps.clock.now() + nextMs);
    const isAsked = plan.follow;
    const handled = handledWith(handledBefore, open);
    const attempt = { resolution, remarks, nextAt, attemptedAt, isAsked, handled, earlier };
    tell(deps, helmOp, attemptIntent(helmOp, attempt));
    return nextMs === undefined ? done() : requeueAfter(nextMs, "poll");
  };

  /** What somebody else wrote into the Bundle counts for nothing, and changes no version. */
  function knownPins(key: ObjectKey): readonly ChartPin[] {
    const bundle = deps.bundles.get(key);
    const sealed = bundle && deps.seals.pinsOf(bundle);
    return sealed ?? memories.get(key)?.pins ?? [];
  }

  function resolve(
    helmOp: HelmOp,
    known: readonly ChartPin[],
    plan: AttemptPlan & Pick<HelmOpAccess, "settingsFor">,
    signal: AbortSignal,
  ): Promise<ChartResolution> {
    const key = keyOf(helmOp);
    const isDoubted = deps.doubts.take(key);
    return resolveCharts(deps.resolver, {
      helmOp,
      known,
      ...plan,
      ...(isDoubted && {
        isUseless: (pin: Pin) => !isRunByAny(deps.deployments.byIndex(byBundle, key), pin),
      }),
      signal,
    });
  }

  /** `before`: the trouble there was, which stays as it was where this was no attempt. */
  function remember(
    helmOp: HelmOp,
    { pins, failure }: ChartResolution,
    before: Trouble,
    isAttempt: boolean,
  ): Trouble {
    const after: Trouble =
      failure === undefined
        ? { failures: 0 }
        : {
            failures: before.failures + 1,
            notBeforeMs: notBeforeMs(failure, deps.clock.now()),
          };
    const trouble = isAttempt ? after : before;
    memories.set(keyOf(helmOp), {
      pins,
      generation: helmOp.metadata.generation ?? 0,
      trouble,
    });
    return trouble;
  }
}

/** From memory, or after a restart from the status, which tells that there was some but not how often. */
function troubleOf(memory: Memory | undefined, helmOp: HelmOp): Trouble {
  const { generation } = helmOp.metadata;
  if (memory !== undefined)
    return memory.generation === generation ? memory.trouble : { failures: 0 };
  const polled = findCondition(helmOp.status?.conditions, "Polled");
  const hasFailed = polled?.status === "False" && polled.observedGeneration === generation;
  return { failures: hasFailed ? 1 : 0 };
}

function isAccepted({ metadata, status }: HelmOp): boolean {
  const accepted = findCondition(status?.conditions, "Accepted");
  return accepted?.status === "True" && accepted.observedGeneration === metadata.generation;
}

/** Whether all come to what they came to before, whatever is to be known of it by now. */
function isSameArchives(pins: readonly ChartPin[], before: readonly ChartPin[]): boolean {
  const archives = (of: readonly ChartPin[]) => of.map(({ note: _, ...pin }) => pin);
  return isDeepStrictEqual(archives(pins), archives(before));
}

function momentOf({ clock, hubId }: HelmOpDeps) {
  return { nowMs: clock.now(), hub: hubId };
}

/** Whether somebody asked, and nothing came of it yet: from memory, or after a restart from the status. */
function isAskedStill(helmOp: HelmOp, told: HelmOpIntent | undefined): boolean {
  if (helmOp.spec.suspend === true) return false;
  if (told !== undefined) return told.stalled?.reason === "RequestFailed";
  const stalled = findCondition(helmOp.status?.conditions, "Stalled");
  return stalled?.status === "True" && stalled.reason === "RequestFailed";
}

/** What is known of the last poll: from memory, or after a restart from the status. */
function lastPoll(helmOp: HelmOp, told: HelmOpIntent | undefined): PollOutcome | undefined {
  if (told?.polled !== undefined) return told.polled;
  const at = helmOp.status?.lastPollingTriggered;
  if (at === undefined || at === null) return undefined;
  const condition = findCondition(helmOp.status?.conditions, "Polled");
  return { at, ...(condition?.status === "False" && { error: condition.message ?? "" }) };
}

/** RFC 3339 in whole seconds, as Kubernetes keeps times. */
function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
