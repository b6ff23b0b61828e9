/** Why a release is in its state, in words as Flux has for reasons: for the log, and for the history of the release. Pure. */
import { type ChangeReason, changeReasonsOf, type ReleaseParts } from "@flotilla/shared/content";
import { unreachable } from "@flotilla/shared/errors";
import type { ReleaseState } from "./release-state.ts";

export type ReleaseReason =
  | ChangeReason
  /** Its digest differs from the desired one, and the revision is of an agent that entered no parts of it. */
  | "ContentChanged"
  /** The newest revision is not deployed: another one was rolled back to, or Helm was interrupted. */
  | "NotDeployed"
  | "NotInstalled"
  | "Uninstalled"
  | "Uninstalling"
  | "ReleaseFailed"
  | "TestsFailed"
  | "NotTested"
  /** Somebody ran Helm by hand, or changed the record. */
  | "ChangedByOthers"
  | "OwnedByOthers"
  | "LockedByOthers"
  | "Interrupted"
  /** It has another name or namespace now. */
  | "Moved"
  /** The deployment that it was installed for is not assigned any more. */
  | "Orphaned"
  | "NotReady"
  | "Drifted"
  /** A user has requested an upgrade. */
  | "Requested";

export interface ReasonInputs {
  /** What is desired; absent: nothing is to be upgraded. */
  readonly desired: ReleaseParts | undefined;
  /** What the agent entered for the newest revision. */
  readonly installed: ReleaseParts | undefined;
  /** The newest revision is one that the agent, or Helm for it, has rolled back to. */
  readonly isRolledBack: boolean;
  /** A user has requested an upgrade, whatever the state. */
  readonly isRequested: boolean;
}

/** None: it is in sync. */
export function reasonsOf(state: ReleaseState, inputs: ReasonInputs): readonly ReleaseReason[] {
  const ofState = stateReasons(state, inputs);
  return inputs.isRequested ? [...ofState, "Requested"] : ofState;
}

function stateReasons(
  state: ReleaseState,
  { desired, installed, isRolledBack }: ReasonInputs,
): readonly ReleaseReason[] {
  switch (state.kind) {
    case "inSync":
      return [];
    case "absent":
      return [state.record === undefined ? "NotInstalled" : "Uninstalled"];
    case "outOfSync": {
      const changes = desired === undefined ? [] : changeReasonsOf(installed, desired);
      if (changes.length > 0) return changes;
      return [state.record.status === "deployed" ? "ContentChanged" : "NotDeployed"];
    }
    case "failed":
      return [state.what === "tests" ? "TestsFailed" : "ReleaseFailed"];
    case "untested":
      return ["NotTested"];
    case "unmanaged":
      // No digest is known of the revision that Helm rolls back to by itself.
      return [isRolledBack ? "NotDeployed" : "ChangedByOthers"];
    case "conflict":
      return ["OwnedByOthers"];
    case "locked":
      return [state.isOwn ? "Interrupted" : "LockedByOthers"];
    case "moved":
      return ["Moved"];
    case "uninstalling":
      return ["Uninstalling"];
    case "adoptable":
      return ["Orphaned"];
    case "progressing":
      return ["NotReady"];
    case "drifted":
      return ["Drifted"];
    default:
      return unreachable(state);
  }
}
