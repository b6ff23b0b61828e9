/** The status that all sources of Flux have, from the result of reading one. Pure. */

import type { Condition, ResolutionStatus } from "@flotilla/shared/api";
import { findCondition } from "@flotilla/shared/conditions";
import { maxConditionMessageLength } from "@flotilla/shared/flux";
import { fluxReason, fluxType } from "@flotilla/shared/flux/reasons";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { failureText } from "../../rules/index.ts";
import { type FluxCondition, fluxConditions, withFluxCondition } from "./conditions.ts";
import type { FailureCondition, SourceError } from "./source-error.ts";

/** What a source has, with Flux's fields. The hub stores no artifacts: `url` is the address at the source itself. */
export interface SourceArtifact {
  readonly revision: string;
  /** `sha256:` and hex, or another digest of the source. */
  readonly digest: string;
  readonly url: string;
  readonly path: string;
  /** RFC 3339. */
  readonly lastUpdateTime: string;
  readonly size?: number | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

export interface SourceStatus {
  readonly observedGeneration?: number | undefined;
  readonly conditions?: readonly Condition[] | undefined;
  readonly artifact?: SourceArtifact | undefined;
  readonly lastHandledReconcileAt?: string | undefined;
  /** The schedule; absent where Flux's own CRDs drop it. */
  readonly polling?: ResolutionStatus | undefined;
}

export interface SourceObject extends KubeObject {
  readonly spec?: { readonly suspend?: boolean | null | undefined } | undefined;
  readonly status?: SourceStatus | undefined;
}

/** What a source had when it was read. */
export interface SourceResult {
  readonly artifact: Omit<SourceArtifact, "lastUpdateTime">;
  /** The reason of the conditions Ready and ArtifactInStorage; default: Succeeded. */
  readonly reason?: string;
  readonly message: string;
  /** Besides those that every source has, such as SourceVerified. */
  readonly conditions?: readonly FluxCondition[];
  /** Fields of its own, such as `observedIgnore`; undefined removes one. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** The reason of Ready where a chart of a HelmRepository has no valid signature. */
export const chartVerificationError = fluxReason.chartVerificationError;

/** The reason of Reconciling after a failure. */
const withRetry = fluxReason.progressingWithRetry;

const fromReading = [fluxType.ready, fluxType.artifactInStorage] as const;

/** After a source was read. */
export function succeeded(
  object: SourceObject,
  status: SourceStatus | undefined,
  { artifact, reason = fluxReason.succeeded, message, conditions = [], fields }: SourceResult,
  now: string,
): SourceStatus {
  const { generation = 0 } = object.metadata;
  const known = status?.artifact;
  const isSame = known?.revision === artifact.revision && known.digest === artifact.digest;
  const desired = [
    ...fromReading.map((type) => ({ type, status: "True" as const, reason, message })),
    ...conditions,
  ];
  return {
    ...status,
    ...fields,
    observedGeneration: generation,
    artifact: { ...artifact, lastUpdateTime: isSame ? known.lastUpdateTime : now },
    conditions: fluxConditions(status?.conditions, desired, { generation, now }),
  };
}

/** After a source could not be read. What it had stays usable. */
export function failed(
  object: SourceObject,
  status: SourceStatus | undefined,
  error: SourceError,
  { now, retryAt }: { readonly now: string; readonly retryAt?: string | undefined },
): SourceStatus {
  const { generation = 0 } = object.metadata;
  const { reason, condition, stalls } = error;
  const message = failureText(error.message, { retryAt });
  const stored = findCondition(status?.conditions, fluxType.artifactInStorage);
  const verified = findCondition(status?.conditions, fluxType.sourceVerified);
  const desired: readonly FluxCondition[] = [
    stalls
      ? { type: fluxType.stalled, status: "True", reason, message }
      : { type: fluxType.reconciling, status: "True", reason: withRetry, message },
    { type: fluxType.ready, status: "False", reason, message },
    ...(condition === fluxType.sourceVerified
      ? []
      : [{ type: condition, status: "True" as const, reason, message }]),
    ...(status?.artifact !== undefined && stored !== undefined ? [kept(stored)] : []),
    ...verifiedOf(error, message, verified),
  ];
  return {
    ...status,
    ...(stalls && { observedGeneration: generation }),
    conditions: fluxConditions(status?.conditions, desired, { generation, now }),
  };
}

/**
 * While an attempt takes long whose last one failed: the conditions of the failure say since when it runs, and not when it was to
 * begin. Nothing else changes. The status itself if it has no error that this could be said of.
 */
export function retrying(status: SourceStatus, startedAtMs: number): SourceStatus {
  const { conditions = [], polling } = status;
  const ready = findCondition(conditions, fluxType.ready);
  if (polling?.error === undefined || ready?.status !== "False") return status;
  const message = failureText(polling.error, { startedAtMs }).slice(0, maxConditionMessageLength);
  return {
    ...status,
    conditions: conditions.map((each) => (isOfFailure(each, ready) ? { ...each, message } : each)),
  };
}

const failureTypes: ReadonlySet<string> = new Set<FailureCondition>([
  fluxType.buildFailed,
  fluxType.fetchFailed,
  fluxType.includeUnavailable,
  fluxType.storageOperationFailed,
]);

/** Whether a condition shows the failure of the last attempt, as `failed` has set it. */
function isOfFailure({ type, status, reason }: Condition, ready: Condition): boolean {
  switch (type) {
    case fluxType.ready:
      return status === "False";
    case fluxType.reconciling:
      return reason === withRetry;
    case fluxType.sourceVerified:
      // Another reason than Ready's is one of an earlier attempt.
      return (
        status === "False" && (reason === ready.reason || ready.reason === chartVerificationError)
      );
    default:
      return type === fluxType.stalled || failureTypes.has(type);
  }
}

/** What is known of the signature: that it is invalid, or what was known before. */
function verifiedOf(
  { condition, reason, isUnverified }: SourceError,
  message: string,
  before: Condition | undefined,
): readonly FluxCondition[] {
  const type = fluxType.sourceVerified;
  if (condition === type) return [{ type, status: "False", reason, message }];
  if (isUnverified)
    return [{ type, status: "False", reason: fluxReason.verificationError, message }];
  return before === undefined ? [] : [kept(before)];
}

/** Before a source is read for the first time, or for a new generation: then Ready stays what it was, as in Flux. */
export function progressing(
  object: SourceObject,
  status: SourceStatus | undefined,
  now: string,
): SourceStatus {
  const { generation = 0 } = object.metadata;
  const at = { generation, now };
  const message = "reading the source";
  const before = status?.conditions?.filter(({ type }) => type !== fluxType.stalled);
  const reconciling = {
    type: fluxType.reconciling,
    status: "True",
    reason: fluxReason.progressing,
    message,
  } as const;
  const conditions = withFluxCondition(before, reconciling, at);
  if (findCondition(before, fluxType.ready) !== undefined) return { ...status, conditions };
  const ready = {
    type: fluxType.ready,
    status: "Unknown",
    reason: fluxReason.progressing,
    message,
  } as const;
  return { ...status, conditions: withFluxCondition(conditions, ready, at) };
}

/** While a source is not read: what it had stays in use, so its generation counts as observed, as in Flux. */
export function suspended(
  { metadata }: SourceObject,
  status: SourceStatus | undefined,
): SourceStatus {
  if ((status?.conditions ?? []).length === 0) return { ...status };
  return { ...status, observedGeneration: metadata.generation ?? 0 };
}

/** Whether what a source had last may be deployed: Ready is not required, as in Flux. */
export function isUsable({ metadata, status }: SourceObject): boolean {
  return (
    metadata.generation === status?.observedGeneration &&
    findCondition(status?.conditions, fluxType.stalled)?.status !== "True" &&
    status?.artifact !== undefined
  );
}

function kept({ type, status, reason = "", message = "" }: Condition): FluxCondition {
  return { type, status, reason, message };
}
