/** HelmOp to Bundle: validates, resolves the charts, and keeps the Bundle of the HelmOp's name as planned. */
import { type HelmOp, type HelmOpStatus, helmOps, type Policy } from "@flotilla/shared/api";
import { helmOpFinalizer } from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import { AppError } from "@flotilla/shared/errors";
import { byNamespace, type Store } from "@flotilla/shared/kube/cache";
import {
  addFinalizer,
  done,
  type FinalizerOptions,
  type Reconcile,
  type Result,
  removeFinalizer,
} from "@flotilla/shared/kube/controller";
import type { EventRecorder } from "@flotilla/shared/kube/events";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/objects";
import type { Patterns } from "@flotilla/shared/regex";
import { type Clock, formatTimeMs } from "@flotilla/shared/time";
import {
  deleteBundle,
  entryFor,
  holds,
  isWorthPublishing,
  nameTaken,
  type OwnBundleDeps,
  remarksOn,
  writeBundle,
} from "../frontend/index.ts";
import {
  type HubRules,
  limitsRepositories,
  mergePolicies,
  usedByHelmOp,
  violationOf,
  withDefaults,
} from "../policy/index.ts";
import {
  type ChartAccess,
  type ChartResolver,
  handledOf,
  isAllPinned,
  openRequests,
  type PinSigner,
  type Requests,
  type ResolutionState,
  requeueAt,
} from "../resolve/index.ts";
import type { Publisher } from "../status/index.ts";
import {
  rejectedStatus,
  resolutionStateOf,
  resolvedStatus,
  resolvingStatus,
  retryingStatus,
} from "./decided-status.ts";
import { recordFailure, recordRejection, recordRemarks, recordVersion } from "./events.ts";
import { helmOpFrontEnd } from "./front-end.ts";
import { helmOpBundles } from "./own-bundle.ts";

export interface HelmOpDeps extends OwnBundleDeps, HubRules {
  readonly helmOps: Store<HelmOp>;
  readonly policies: Store<Policy>;
  readonly patterns: Patterns;
  readonly statuses: Pick<Publisher<HelmOpStatus, HelmOp>, "current" | "publish">;
  readonly charts: ChartResolver;
  readonly signer: PinSigner;
  readonly access: ChartAccess;
  readonly events: EventRecorder;
  readonly clock: Pick<Clock, "now">;
}

export function helmOpReconciler(deps: HelmOpDeps): Reconcile {
  const { clock, statuses, events } = deps;

  return async function reconcile(key, context): Promise<Result> {
    const { signal } = context;
    const written = deps.helmOps.get(key);
    if (written === undefined || written.metadata.deletionTimestamp !== undefined) {
      deps.access.forget(key);
      return written === undefined ? done() : finalize(written, signal);
    }
    const policy = mergePolicies(
      deps.policies.byIndex(byNamespace, written.metadata.namespace ?? ""),
      deps,
    );
    const helmOp = withDefaults(policy, written);
    const status = statuses.current(written);
    recordRemarks(events, helmOp, status);
    const invalid =
      helmOpFrontEnd.validate(helmOp) ??
      violationOf([policy], usedByHelmOp(helmOp), deps.patterns) ??
      nameTaken(helmOpBundles, deps.bundles, helmOp);
    if (invalid !== undefined) return reject(written, helmOp, invalid);
    const showsResponses = limitsRepositories(policy);
    const access = await deps.access.of(helmOp, { showsResponses }).catch(AppError.from);
    if (access instanceof AppError) {
      const isAccepted = isAcceptedNow(helmOp, status);
      if (!isWorthPublishing(access, { isAccepted, retries: context.retries })) throw access;
      return reject(written, helmOp, access);
    }

    const open = requestsOf(helmOp, status);
    const [{ state, error, nextAtMs }, kept] = await Promise.all([
      deps.charts.resolve(
        {
          helmOp,
          state: withSignedPins(key, resolutionStateOf(status)),
          open,
          access,
          onRetrying: (startedAtMs) => publishRetrying(helmOp, startedAtMs),
          onUnknown: () => statuses.publish(written, resolvingStatus(helmOp, status)),
        },
        context,
      ),
      addFinalizer(finalizer(signal), helmOp),
    ]);
    // Deleted before it had the finalizer: nobody would ever delete its Bundle.
    if (kept === undefined) return done();
    if (isAllPinned(helmOp, state)) {
      const bundle = helmOpFrontEnd.plan(helmOp, state.pins, access.caBundle);
      await writeBundle(deps, deps.signer.signed(bundle), signal);
    }
    const next = resolvedStatus(helmOp, status, {
      state,
      remarks: remarksOn(helmOp),
      open,
      now: nowText(),
    });
    if (error !== undefined) recordFailure(events, helmOp, error);
    recordVersion(events, helmOp, status, next);
    statuses.publish(written, next);
    return requeueAt(nextAtMs, clock.now());
  };

  /** The finalizer stays until the Bundle is gone. */
  async function finalize(helmOp: HelmOp, signal: AbortSignal): Promise<Result> {
    const deleting = await deleteBundle(deps, helmOpBundles, helmOp, signal);
    if (deleting !== undefined) return deleting;
    await removeFinalizer(finalizer(signal), helmOp);
    return done();
  }

  function finalizer(signal: AbortSignal): FinalizerOptions<HelmOp> {
    const { rest, helmOps: store } = deps;
    return { rest, resource: helmOps, store, finalizer: helmOpFinalizer, signal };
  }

  /** The pins of the Bundle where their signature is valid; those of the status for what the Bundle has none for. */
  function withSignedPins(key: ObjectKey, state: ResolutionState): ResolutionState {
    const bundle = deps.bundles.get(key);
    const signed = (bundle && deps.signer.pinsOf(bundle)) ?? [];
    const others = state.pins.filter((pin) => entryFor(signed, pin) === undefined);
    return { ...state, pins: [...signed, ...others] };
  }

  function publishRetrying(helmOp: HelmOp, startedAtMs: number): void {
    const latest = deps.helmOps.get(keyOf(helmOp));
    if (latest === undefined || latest.metadata.uid !== helmOp.metadata.uid) return;
    const status = statuses.current(latest);
    if (status === undefined) return;
    const message = { startedAtMs, remarks: remarksOn(helmOp), now: nowText() };
    statuses.publish(latest, retryingStatus(helmOp, status, message));
  }

  /** Nothing changes in what is deployed. A watch reconciles it again when what is wrong has changed. */
  function reject(written: HelmOp, helmOp: HelmOp, error: AppError): Result {
    const status = statuses.current(written);
    recordRejection(events, helmOp, status, error);
    const rejected = rejectedStatus(helmOp, status, {
      error,
      remarks: remarksOn(helmOp),
      open: requestsOf(helmOp, status),
      now: nowText(),
    });
    statuses.publish(written, rejected);
    return done();
  }

  function nowText(): string {
    return formatTimeMs(clock.now());
  }
}

function requestsOf(helmOp: HelmOp, status: HelmOpStatus | undefined): Requests {
  return openRequests(helmOp, handledOf(status));
}

function isAcceptedNow({ metadata }: HelmOp, status: HelmOpStatus | undefined): boolean {
  const { generation = 0 } = metadata;
  return holds(findCondition(status?.conditions, "Accepted"), { status: "True", generation });
}
