/** HelmOp to Bundle: validates, resolves, and keeps the Bundle of the HelmOp's name as the HelmOp says. */

import { isDeepStrictEqual } from "node:util";
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";
import { archiveDigest, type Pin } from "@flotilla/shared/charts/pin.ts";
import type { Resolver } from "@flotilla/shared/charts/resolve.ts";
import type { Clock } from "@flotilla/shared/clock/clock.ts";
import { findCondition } from "@flotilla/shared/conditions/condition.ts";
import type { Reconcile } from "@flotilla/shared/kube/controller.ts";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/object.ts";
import { done, type Outcome, requeueAfter } from "@flotilla/shared/kube/outcome.ts";
import type { Store } from "@flotilla/shared/kube/store.ts";
import { byBundle } from "../deploy/reconcile.ts";
import type { PollOutcome } from "../status/intent.ts";
import { acceptedIntent, attemptIntent } from "./attempt-intent.ts";
import type { Doubts } from "./doubts.ts";
import { addFinalizer, type FinalizerDeps, finish } from "./finalizer.ts";
import { nextAttemptMs } from "./next-attempt.ts";
import { planPoll } from "./polling.ts";
import { type ChartNote, resolveCharts } from "./resolve-charts.ts";
import { type TellDeps, tell, warn } from "./tell.ts";
import { unknownFieldRemarks } from "./unknown-fields.ts";
import { refusalOf } from "./validate.ts";
import { nameTaken, type WriteBundleDeps, writeBundle } from "./write-bundle.ts";

export interface HelmOpDeps extends FinalizerDeps, WriteBundleDeps, TellDeps {
  /** Indexed `byBundle`. */
  readonly deployments: Store<BundleDeployment>;
  /** Of its pins, raised by what agents report. */
  readonly doubts: Doubts;
  readonly resolver: Resolver;
  readonly clock: Clock;
}

export function helmOpReconciler(deps: HelmOpDeps): Reconcile {
  const failures = new Map<ObjectKey, number>();
  const notes = new Map<ObjectKey, readonly ChartNote[]>();

  return async function reconcile(key, { signal }): Promise<Outcome> {
    const helmOp = deps.helmOps.get(key);
    if (helmOp === undefined || helmOp.metadata.deletionTimestamp !== undefined) {
      failures.delete(key);
      notes.delete(key);
      deps.doubts.forget(key);
      deps.outcomes.helmOps.delete(key);
      if (helmOp !== undefined) await finish(deps, helmOp, signal);
      return done();
    }

    const remarks = unknownFieldRemarks(helmOp);
    warn(deps, helmOp, remarks);
    const refusal = refusalOf(helmOp) ?? nameTaken(deps.bundles.get(key), helmOp);
    if (refusal !== undefined) {
      tell(deps, helmOp, acceptedIntent(helmOp, refusal.message, remarks));
      return done();
    }

    const known = deps.bundles.get(key)?.spec.helmOpOptions?.pins ?? [];
    const earlier = lastPoll(deps, helmOp);
    const isDoubted = deps.doubts.take(key);
    const poll =
      planPoll(helmOp, { lastAt: earlier?.at, failures: failures.get(key) ?? 0 }, deps.clock.now())
        .kind === "due";
    const begunAt = timeText(deps.clock.now());
    const [resolution] = await Promise.all([
      resolveCharts(deps.resolver, {
        helmOp,
        known,
        notes: notes.get(key) ?? [],
        poll,
        ...(isDoubted && { isUseless: (pin: Pin) => !isRunning(deps, key, pin) }),
        signal,
      }),
      addFinalizer(deps, helmOp, signal),
    ]);
    notes.set(key, resolution.notes);
    if (!isDeepStrictEqual(resolution.pins, known)) deps.doubts.forget(key);
    // A first resolution that fails is an attempt like any poll, and is told like one.
    const attemptedAt = poll || resolution.failure !== undefined ? begunAt : undefined;
    if (attemptedAt !== undefined)
      failures.set(key, resolution.failure === undefined ? 0 : (failures.get(key) ?? 0) + 1);

    if (resolution.failure === undefined || resolution.failure.isPinned)
      await writeBundle(deps, helmOp, resolution.pins, signal);
    const nextMs = nextAttemptMs(
      helmOp,
      resolution,
      { lastAt: attemptedAt ?? earlier?.at, failures: failures.get(key) ?? 0 },
      deps.clock.now(),
    );
    const nextAt = nextMs === undefined ? undefined : timeText(deps.clock.now() + nextMs);
    const attempt = { resolution, remarks, nextAt, attemptedAt, earlier };
    tell(deps, helmOp, attemptIntent(helmOp, attempt));
    return nextMs === undefined ? done() : requeueAfter(nextMs, "poll");
  };
}

/** Whether some cluster has installed this very archive, or may have. */
function isRunning({ deployments }: HelmOpDeps, key: ObjectKey, pin: Pin): boolean {
  const digest = archiveDigest(pin);
  return (
    digest === undefined ||
    deployments.byIndex(byBundle, key).some(({ status }) => status?.chartDigest === digest)
  );
}

/** What is known of the last poll: from memory, or after a restart from the status. */
function lastPoll(deps: HelmOpDeps, helmOp: HelmOp): PollOutcome | undefined {
  const remembered = deps.outcomes.helmOps.get(keyOf(helmOp))?.polled;
  if (remembered !== undefined) return remembered;
  const at = helmOp.status?.lastPollingTriggered;
  if (at === undefined || at === null) return undefined;
  const condition = findCondition(helmOp.status?.conditions, "Polled");
  return { at, ...(condition?.status === "False" && { error: condition.message ?? "" }) };
}

/** RFC 3339 in whole seconds, as Kubernetes keeps times. */
function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
