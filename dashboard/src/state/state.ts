/** What the states are called and how they look: a colour, an icon and a word, always together. Pure. */
import type { AppState, ClusterState, SourceState } from "@flotilla/shared/dashboard";
import { appStates } from "@flotilla/shared/dashboard/states";

/** `Blocked`: the page alone sees that what an app waits for does not end by itself. */
export type AnyState = AppState | ClusterState | SourceState | "Blocked";

/** A colour of the theme. */
export type Tone = "bad" | "warn" | "busy" | "off" | "good";

export interface StateLook {
  readonly word: string;
  readonly tone: Tone;
}

const looks: Readonly<Record<AnyState, StateLook>> = {
  NotAccepted: { word: "Not accepted", tone: "bad" },
  ErrApplied: { word: "Failed", tone: "bad" },
  Failed: { word: "Failed", tone: "bad" },
  NotReady: { word: "Not ready", tone: "bad" },
  Modified: { word: "Modified", tone: "warn" },
  Stalled: { word: "Stalled", tone: "warn" },
  Blocked: { word: "Blocked", tone: "warn" },
  NoTargets: { word: "No targets", tone: "warn" },
  Offline: { word: "Offline", tone: "off" },
  WaitApplied: { word: "Applying", tone: "busy" },
  OutOfSync: { word: "Out of sync", tone: "busy" },
  Pending: { word: "Pending", tone: "busy" },
  Progressing: { word: "Progressing", tone: "busy" },
  WaitCheckIn: { word: "Waiting for its agent", tone: "off" },
  Unmanaged: { word: "Managed elsewhere", tone: "off" },
  Ready: { word: "Ready", tone: "good" },
};

export function lookOf(state: AnyState): StateLook {
  return looks[state];
}

/** From the state that needs attention most: states of apps, between them the ones that apps do not have. */
const statesByUrgency: readonly AnyState[] = appStates.flatMap((state): readonly AnyState[] => {
  if (state === "NotReady") return [state, "Failed"];
  if (state === "Stalled") return [state, "Blocked"];
  return state === "Ready" ? ["WaitCheckIn", "Unmanaged", state] : [state];
});

/** Whether somebody has to do something. What is in progress ends by itself. */
export function needsAttention(state: AnyState): boolean {
  const { tone } = lookOf(state);
  return tone === "bad" || tone === "warn" || state === "Offline" || state === "WaitCheckIn";
}

/** 0 for the state that needs attention most. */
export function urgencyOf(state: AnyState): number {
  return statesByUrgency.indexOf(state);
}

export function byUrgency(one: AnyState, other: AnyState): number {
  return urgencyOf(one) - urgencyOf(other);
}

/** A filter beside the states: who has suspended something has to resume it, whatever its state. */
export const suspendedChip = "suspended";
