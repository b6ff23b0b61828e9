/** HelmOp as a front end: its charts are resolved by the hub, which polls their sources. */
import { type HelmOp, type HelmOpStatus, helmOps } from "@flotilla/shared/api";
import { findCondition } from "@flotilla/shared/conditions";
import { AppError } from "@flotilla/shared/errors";
import type { Store } from "@flotilla/shared/kube/cache";
import type { ReconcileContext } from "@flotilla/shared/kube/controller";
import type { EventRecorder } from "@flotilla/shared/kube/events";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/objects";
import { type Clock, formatTimeMs } from "@flotilla/shared/time";
import type { Publisher } from "../../base/index.ts";
import {
  type ChartAccess,
  type ChartResolver,
  entryFor,
  handledOf,
  holds,
  isAllPinned,
  isWorthPublishing,
  limitsRepositories,
  type MergedPolicy,
  type OwnBundleDeps,
  openRequests,
  type PinSigner,
  type PlannedRelease,
  type Requests,
  type ResolutionState,
  releaseOfHelmOp,
  remarksOn,
  requeueAt,
} from "../../rules/index.ts";
import type { FrontEnd, Resolution } from "../lifecycle/front-end.ts";
import {
  rejectedStatus,
  resolutionStateOf,
  resolvedStatus,
  resolvingStatus,
  retryingStatus,
} from "./decided-status.ts";
import { recordFailure, recordRemarks, recordVersion } from "./events.ts";
import { validate } from "./validate.ts";

export interface HelmOpDeps extends Pick<OwnBundleDeps, "bundles"> {
  readonly helmOps: Store<HelmOp>;
  readonly statuses: Pick<Publisher<HelmOpStatus, HelmOp>, "current" | "publish">;
  readonly charts: ChartResolver;
  readonly signer: PinSigner;
  readonly access: ChartAccess;
  readonly events: EventRecorder;
  readonly clock: Pick<Clock, "now">;
}

/** How far its charts are resolved, and the requests that this handled. */
export interface HelmOpDecision {
  readonly state: ResolutionState;
  readonly open: Requests;
}

interface Reconciled {
  readonly helmOp: HelmOp;
  readonly status: HelmOpStatus | undefined;
  readonly context: ReconcileContext;
}

export function helmOpFrontEnd(deps: HelmOpDeps): FrontEnd<HelmOp, HelmOpStatus, HelmOpDecision> {
  const { clock, statuses, events } = deps;

  async function resolve(
    { helmOp, status, context }: Reconciled,
    release: PlannedRelease,
    policies: readonly MergedPolicy[],
  ): Promise<Resolution<HelmOpDecision>> {
    const showsResponses = policies.some(limitsRepositories);
    const access = await deps.access.of(release, { showsResponses }).catch(AppError.from);
    if (access instanceof AppError) {
      const isAccepted = isAcceptedNow(helmOp, status);
      if (!isWorthPublishing(access, { isAccepted, retries: context.retries })) throw access;
      return { kind: "refused", error: access };
    }
    const open = requestsOf(helmOp, status);
    const { state, error, nextAtMs } = await deps.charts.resolve(
      {
        release,
        state: withSignedPins(keyOf(helmOp), resolutionStateOf(status)),
        open,
        access,
        onRetrying: (startedAtMs) => publishRetrying(helmOp, startedAtMs),
        onUnknown: () => statuses.publish(helmOp, resolvingStatus(helmOp, status)),
      },
      context,
    );
    if (error !== undefined) recordFailure(events, helmOp, error);
    const { pins } = state;
    return {
      kind: "resolved",
      charts: isAllPinned(release, state) ? { pins, caBundle: access.caBundle } : undefined,
      decision: { state, open },
      result: requeueAt(nextAtMs, clock.now()),
    };
  }

  /** The pins of the Bundle where their signature is valid; the status's pins for what the Bundle has none for. */
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
    const now = formatTimeMs(clock.now());
    const message = { startedAtMs, remarks: remarksOn(helmOp), now };
    statuses.publish(latest, retryingStatus(helmOp, status, message));
  }

  return {
    kind: "HelmOp",
    resource: helmOps,
    store: deps.helmOps,
    statuses,
    isSuspended: ({ spec }) => spec.suspend === true,
    takesDefaults: true,
    compile(helmOp, status, context) {
      recordRemarks(events, helmOp, status);
      return {
        kind: "planned",
        release: releaseOfHelmOp(helmOp),
        resolve: (release, policies) => resolve({ helmOp, status, context }, release, policies),
      };
    },
    check: validate,
    decided(helmOp, status, { state, open }, now) {
      const remarks = remarksOn(helmOp);
      return resolvedStatus(helmOp, status, { state, remarks, open, now });
    },
    record: (helmOp, before, after) => recordVersion(events, helmOp, before, after),
    rejected(helmOp, status, { error, now }) {
      const remarks = remarksOn(helmOp);
      const open = requestsOf(helmOp, status);
      return rejectedStatus(helmOp, status, { error, remarks, open, now });
    },
    forget: deps.access.forget,
  };
}

function requestsOf(helmOp: HelmOp, status: HelmOpStatus | undefined): Requests {
  return openRequests(releaseOfHelmOp(helmOp), handledOf(status));
}

function isAcceptedNow({ metadata }: HelmOp, status: HelmOpStatus | undefined): boolean {
  const { generation = 0 } = metadata;
  return holds(findCondition(status?.conditions, "Accepted"), { status: "True", generation });
}
