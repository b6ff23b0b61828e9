/** HelmOp to Bundle: validates, resolves, and keeps the Bundle of the HelmOp's name as the HelmOp says. */

import { isDeepStrictEqual } from "node:util";
import type { Bundle } from "@flotilla/shared/api/bundle.ts";
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";
import { helmOpFinalizer } from "@flotilla/shared/api/names.ts";
import type { Policy } from "@flotilla/shared/api/policy.ts";
import { bundles, helmOps } from "@flotilla/shared/api/resources.ts";
import { archiveDigest, type Pin } from "@flotilla/shared/charts/pin.ts";
import type { Resolver } from "@flotilla/shared/charts/resolve.ts";
import type { Clock } from "@flotilla/shared/clock/clock.ts";
import { findCondition } from "@flotilla/shared/conditions/condition.ts";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import type { Reconcile } from "@flotilla/shared/kube/controller.ts";
import type { EventRecorder } from "@flotilla/shared/kube/events.ts";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/object.ts";
import { done, type Outcome, requeueAfter } from "@flotilla/shared/kube/outcome.ts";
import type { KubeRest } from "@flotilla/shared/kube/rest.ts";
import type { Store } from "@flotilla/shared/kube/store.ts";
import { byBundle, byNamespace } from "../deploy/reconcile.ts";
import { hubErrors } from "../errors.ts";
import { withDefaults } from "../policy/defaults.ts";
import { mergePolicies } from "../policy/merge-policies.ts";
import type { Patterns } from "../policy/patterns.ts";
import { reportViolation } from "../policy/report-violation.ts";
import { violationOf } from "../policy/violation.ts";
import type { HelmOpIntent, Outcomes, PollOutcome } from "../status/intent.ts";
import { acceptedIntent, attemptIntent } from "./attempt-intent.ts";
import type { ChartAccess } from "./chart-access.ts";
import type { Doubts } from "./doubts.ts";
import { leftOutLabelRemarks } from "./left-out-labels.ts";
import { notCarriedOutRemarks } from "./not-carried-out.ts";
import { isBundleOf, planBundle } from "./plan-bundle.ts";
import { type PollHistory, planPoll } from "./polling.ts";
import { type ChartNote, type ChartResolution, resolveCharts } from "./resolve-charts.ts";
import { unknownFieldRemarks } from "./unknown-fields.ts";
import { refusalOf } from "./validate.ts";

export interface HelmOpDeps {
  readonly rest: KubeRest;
  readonly helmOps: Store<HelmOp>;
  readonly bundles: Store<Bundle>;
  /** Indexed `byBundle`. */
  readonly deployments: Store<BundleDeployment>;
  /** Indexed `byNamespace`. */
  readonly policies: Store<Policy>;
  readonly patterns: Patterns;
  /** Of its pins, raised by what agents report. */
  readonly doubts: Doubts;
  readonly resolver: Resolver;
  readonly access: ChartAccess;
  readonly outcomes: Outcomes;
  /** Has the status of a HelmOp told anew. */
  readonly markStatus: (key: ObjectKey) => void;
  readonly events: EventRecorder;
  readonly clock: Clock;
}

/** A HelmOp that has no pin at all is tried again after one second, doubling up to five minutes. */
const firstRetryMs = 1_000;
const longestRetryMs = 5 * 60_000;

export function helmOpReconciler(deps: HelmOpDeps): Reconcile {
  const failures = new Map<ObjectKey, number>();
  const notes = new Map<ObjectKey, readonly ChartNote[]>();

  return async function reconcile(key, { signal }): Promise<Outcome> {
    const written = deps.helmOps.get(key);
    if (written === undefined || written.metadata.deletionTimestamp !== undefined) {
      failures.delete(key);
      notes.delete(key);
      if (written !== undefined) deps.doubts.forget(key);
      deps.access.forget(key);
      deps.outcomes.helmOps.delete(key);
      if (written !== undefined) await finish(deps, written, signal);
      return done();
    }

    const unknown = unknownFieldRemarks(written);
    warn(deps, written, unknown);
    const policy = mergePolicies(
      deps.policies.byIndex(byNamespace, written.metadata.namespace ?? ""),
    );
    const helmOp = withDefaults(policy, written);
    const remarks = [...unknown, ...leftOutLabelRemarks(helmOp), ...notCarriedOutRemarks(helmOp)];
    const refusal =
      refusalOf(helmOp) ??
      violationOf(policy, helmOp, deps.patterns) ??
      nameTaken(deps.bundles.get(key), helmOp);
    if (refusal !== undefined) {
      const told = deps.outcomes.helmOps.get(key);
      reportViolation(deps.events, helmOp, refusal, {
        told: told && { generation: told.generation, message: told.accepted.message ?? "" },
        condition: findCondition(helmOp.status?.conditions, "Accepted"),
      });
      tell(deps, helmOp, acceptedIntent(helmOp, refusal.message, remarks));
      return done();
    }

    const access = await deps.access.of(helmOp).catch(AppError.from);
    if (access instanceof AppError) {
      tell(deps, helmOp, acceptedIntent(helmOp, access.message, remarks));
      return done();
    }
    const known = deps.bundles.get(key)?.spec.helmOpOptions?.pins ?? [];
    const earlier = lastPoll(deps, helmOp);
    const isDoubted = deps.doubts.take(key);
    const failed = failures.get(key) ?? 0;
    const plan = planPoll(helmOp, { lastAt: earlier?.at, failures: failed }, deps.clock.now());
    // What failed may go well with the new credentials; what went well has no need of them.
    const poll = plan.kind === "due" || (plan.kind === "later" && failed > 0 && access.hasChanged);
    const begunAt = timeText(deps.clock.now());
    const [resolution] = await Promise.all([
      resolveCharts(deps.resolver, {
        helmOp,
        known,
        notes: notes.get(key) ?? [],
        poll,
        settingsFor: access.settingsFor,
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
      await writeBundle(deps, helmOp, planBundle(helmOp, resolution.pins, access.caBundle), signal);
    const nextMs = nextAttemptMs(
      helmOp,
      resolution,
      { lastAt: attemptedAt ?? earlier?.at, failures: failures.get(key) ?? 0 },
      deps.clock,
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

/** A Bundle of this name that is not ours is left alone. */
function nameTaken(bundle: Bundle | undefined, helmOp: HelmOp): AppError | undefined {
  if (bundle === undefined || isBundleOf(bundle, helmOp)) return undefined;
  const { name, namespace = "" } = bundle.metadata;
  return new AppError(
    hubErrors.BUNDLE_NAME_TAKEN,
    `a Bundle ${namespace}/${name} exists already that was not made for this HelmOp; make the HelmOp anew under another name, or delete that Bundle`,
  );
}

/** The Bundle goes first; the HelmOp follows when it is gone. */
async function finish(deps: HelmOpDeps, helmOp: HelmOp, signal: AbortSignal): Promise<void> {
  const bundle = deps.bundles.get(keyOf(helmOp));
  if (bundle !== undefined && isBundleOf(bundle, helmOp)) {
    if (bundle.metadata.deletionTimestamp === undefined) {
      await deps.rest.delete(bundles, bundle.metadata, {
        ...(bundle.metadata.uid !== undefined && { uid: bundle.metadata.uid }),
        signal,
      });
    }
    return;
  }
  await setFinalizers(
    deps,
    helmOp,
    (helmOp.metadata.finalizers ?? []).filter((name) => name !== helmOpFinalizer),
    signal,
  );
}

async function addFinalizer(deps: HelmOpDeps, helmOp: HelmOp, signal: AbortSignal): Promise<void> {
  const finalizers = helmOp.metadata.finalizers ?? [];
  if (!finalizers.includes(helmOpFinalizer))
    await setFinalizers(deps, helmOp, [...finalizers, helmOpFinalizer], signal);
}

/** A patch, because other people write HelmOps too; with the version, so that none of their finalizers gets lost. */
async function setFinalizers(
  deps: HelmOpDeps,
  helmOp: HelmOp,
  finalizers: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  if (isDeepStrictEqual(finalizers, helmOp.metadata.finalizers ?? [])) return;
  const body = { metadata: { resourceVersion: helmOp.metadata.resourceVersion, finalizers } };
  deps.helmOps.wrote(
    await deps.rest.patch(helmOps, helmOp.metadata, { type: "merge", body }, { signal }),
  );
}

async function writeBundle(
  deps: HelmOpDeps,
  helmOp: HelmOp,
  wanted: Bundle,
  signal: AbortSignal,
): Promise<void> {
  const current = deps.bundles.get(keyOf(helmOp));
  if (current === undefined) {
    deps.bundles.wrote(await deps.rest.create(bundles, wanted, { signal }));
    return;
  }
  if (current.metadata.deletionTimestamp !== undefined) return;
  if (
    isDeepStrictEqual(current.spec, wanted.spec) &&
    isDeepStrictEqual(current.metadata.labels, wanted.metadata.labels)
  )
    return;
  const next = {
    ...current,
    metadata: { ...current.metadata, labels: wanted.metadata.labels ?? {} },
    spec: wanted.spec,
  };
  deps.bundles.wrote(await deps.rest.replace(bundles, next, { signal }));
}

/** Milliseconds until repositories are asked again; undefined when nothing is asked before something changes. */
function nextAttemptMs(
  helmOp: HelmOp,
  { failure }: ChartResolution,
  history: PollHistory,
  clock: Clock,
): number | undefined {
  if (failure !== undefined && !failure.isPinned) {
    const backoff = Math.min(
      longestRetryMs,
      firstRetryMs * 2 ** Math.min(history.failures - 1, 10),
    );
    return failure.error.retryable ? backoff : undefined;
  }
  const plan = planPoll(helmOp, history, clock.now());
  switch (plan.kind) {
    case "off":
      return undefined;
    case "due":
      return 0;
    case "later":
      return plan.inMs;
  }
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

/** Once for each generation, also when the hub has started anew since. */
function warn(deps: HelmOpDeps, helmOp: HelmOp, remarks: readonly string[]): void {
  if (remarks.length === 0) return;
  const generation = generationOf(helmOp);
  const told = findCondition(helmOp.status?.conditions, "Accepted")?.observedGeneration;
  if (told === generation || deps.outcomes.helmOps.get(keyOf(helmOp))?.generation === generation)
    return;
  deps.events.record(helmOp, {
    type: "Warning",
    reason: "UnknownField",
    action: "ReadSpec",
    note: remarks.join("; "),
  });
}

function tell(deps: HelmOpDeps, helmOp: HelmOp, intent: HelmOpIntent): void {
  const key = keyOf(helmOp);
  deps.outcomes.helmOps.set(key, intent);
  if (
    intent.version !== undefined &&
    intent.version !== "" &&
    intent.version !== helmOp.status?.version
  ) {
    deps.events.record(helmOp, {
      type: "Normal",
      reason: "GotNewChartVersion",
      action: "ResolveChart",
      note: intent.version,
    });
  }
  deps.markStatus(key);
}

function generationOf(helmOp: HelmOp): number {
  return helmOp.metadata.generation ?? 0;
}

/** RFC 3339 in whole seconds, as Kubernetes keeps times. */
function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
