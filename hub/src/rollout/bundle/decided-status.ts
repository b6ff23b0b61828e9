/** The part of a Bundle's status that its reconcile decides. Pure. */
import { type Bundle, type BundleStatus, rolledOutCondition } from "@flotilla/shared/api";
import { findCondition, setCondition } from "@flotilla/shared/conditions";
import type { ConditionState, ResolutionState, RolloutFields } from "../../rules/index.ts";
import { rolledOut } from "../stages/staged-status.ts";

/** The reason of Accepted=True where targets name something that does not exist. */
export const targetsMissing = "TargetsMissing";

/** The result of resolving the charts of a Bundle that was applied by hand. */
export interface BundleResolution {
  readonly state: ResolutionState;
  /** The request that was handled. */
  readonly handled: string | undefined;
}

export interface Deployed {
  /** Clusters that the targets match. */
  readonly targets: number;
  /** The version of the chart; "" for an archive at a bare address. */
  readonly version: string;
  readonly uncheckedContents: Readonly<Record<string, string>>;
  /** How far its rollout is; undefined: nothing limits it. */
  readonly rollout?: RolloutFields | undefined;
  /** Its staged rollout; absent: the strategy has no stages. */
  readonly staged?: BundleStatus["rollout"];
}

export interface BundleDecision {
  readonly accepted: ConditionState;
  /** The code of the error for which it is not accepted. */
  readonly rejectedCode?: string | undefined;
  /** The resolution of a Bundle that was applied by hand; others have none. */
  readonly resolution?: BundleResolution | undefined;
  /** Absent where nothing was deployed: where it is deployed stays. */
  readonly deployed?: Deployed;
  /** RFC 3339. */
  readonly now: string;
}

export function resolutionStateOf(status: BundleStatus | undefined): ResolutionState {
  const { pins = [], resolution = {}, pinCheck } = status ?? {};
  return { pins, attempt: resolution, pinCheck };
}

/** The status with new pins. They are deployed once the API server has them. */
export function resolvedStatus(
  status: BundleStatus | undefined,
  resolution: BundleResolution | undefined,
): BundleStatus {
  const { pins: _, resolution: __, pinCheck: ___, ...kept } = status ?? {};
  if (resolution === undefined) return kept;
  const { pins, attempt, pinCheck } = resolution.state;
  return {
    ...kept,
    ...(pins.length > 0 && { pins }),
    ...(Object.keys(attempt).length > 0 && { resolution: attempt }),
    ...(pinCheck !== undefined && { pinCheck }),
    ...(resolution.handled !== undefined && { lastHandledReconcileAt: resolution.handled }),
  };
}

/**
 * While an attempt takes long whose last one failed. `remarks`: the message of the condition Accepted then. Where something else than
 * that attempt is why the Bundle is not accepted, nothing changes.
 */
export function retryingStatus(
  { metadata }: Bundle,
  status: BundleStatus,
  { remarks, now }: { readonly remarks: readonly string[]; readonly now: string },
): BundleStatus {
  const accepted = findCondition(status.conditions, "Accepted");
  const isOther =
    accepted?.observedGeneration !== (metadata.generation ?? 0) ||
    accepted.reason === targetsMissing ||
    status.rejectedCode !== undefined;
  if (accepted === undefined || isOther) return status;
  const message = remarks.join("; ");
  return { ...status, conditions: setCondition(status.conditions, { ...accepted, message }, now) };
}

export function decidedStatus(
  bundle: Bundle,
  status: BundleStatus | undefined,
  { accepted, rejectedCode, resolution, deployed, now }: BundleDecision,
): BundleStatus {
  const observedGeneration = bundle.metadata.generation ?? 0;
  const {
    uncheckedContents: before,
    rejectedCode: _,
    rollout: stagedBefore,
    ...others
  } = resolvedStatus(status, resolution);
  const kept = deployed === undefined ? others : withoutRollout(others);
  const staged = deployed === undefined ? stagedBefore : deployed.staged;
  const unchecked = deployed === undefined ? before : deployed.uncheckedContents;
  return {
    ...kept,
    observedGeneration,
    ...(rejectedCode !== undefined && { rejectedCode }),
    ...(deployed !== undefined && {
      targets: deployed.targets,
      version: deployed.version,
      ...deployed.rollout,
    }),
    ...(Object.keys(unchecked ?? {}).length > 0 && { uncheckedContents: unchecked }),
    ...(staged !== undefined && { rollout: staged }),
    conditions: withRolledOut(
      setCondition(kept.conditions, { type: "Accepted", ...accepted, observedGeneration }, now),
      staged,
      { observedGeneration, now },
    ),
  };
}

function withoutRollout({
  partitions: _partitions,
  unavailable: _unavailable,
  maxUnavailable: _maxUnavailable,
  unavailablePartitions: _unavailablePartitions,
  maxUnavailablePartitions: _maxUnavailablePartitions,
  newlyCreated: _newlyCreated,
  maxNew: _maxNew,
  ...others
}: BundleStatus): BundleStatus {
  return others;
}

/** Present only where there is a staged rollout. */
function withRolledOut(
  conditions: NonNullable<BundleStatus["conditions"]>,
  rollout: BundleStatus["rollout"],
  { observedGeneration, now }: { readonly observedGeneration: number; readonly now: string },
): NonNullable<BundleStatus["conditions"]> {
  if (rollout === undefined) return conditions.filter(({ type }) => type !== rolledOutCondition);
  const { phase, message = "" } = rollout;
  const status = rolledOut(phase);
  return setCondition(
    conditions,
    { type: rolledOutCondition, status, reason: phase, message, observedGeneration },
    now,
  );
}
