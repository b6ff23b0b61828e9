/** The event of reading a source, with Flux's reasons: for each new revision, each failure and each recovery. Pure. */

import { findCondition } from "@flotilla/shared/conditions";
import { fluxReason, fluxType } from "@flotilla/shared/flux/reasons";
import type { EventNote } from "@flotilla/shared/kube/events";
import { SourceError } from "./source-error.ts";
import type { SourceResult, SourceStatus } from "./source-status.ts";

const action = "ReadSource";

/** `group`: of the kind, which prefixes metadata. `before`: the status before the attempt. */
export function sourceEvent(
  group: string,
  before: SourceStatus | undefined,
  result: SourceResult | SourceError,
): EventNote | undefined {
  if (result instanceof SourceError)
    return result.isTrace
      ? undefined
      : { type: "Warning", reason: result.reason, action, note: result.message };
  const { revision } = result.artifact;
  const metadata = { [`${group}/revision`]: revision };
  const { reason = fluxReason.succeeded, message } = result;
  if (before?.artifact?.revision !== revision)
    return {
      type: "Normal",
      action,
      note: message,
      metadata,
      reason: reason === fluxReason.succeeded ? fluxReason.newArtifact : reason,
    };
  if (findCondition(before.conditions, fluxType.ready)?.status !== "False") return undefined;
  // Otherwise it would be the same event as the revision's.
  const note = `recovered from a failure; ${message}`;
  return { type: "Normal", reason: fluxReason.succeeded, action, note, metadata };
}
