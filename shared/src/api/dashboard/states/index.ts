/**
 * The states that the dashboard shows, from the one that needs attention most to the one that needs none. The page loads this
 * file: it imports types alone.
 */
import type { BundleState } from "../../fleet/index.ts";

/** The states of a HelmOp, HelmRelease or Bundle: the state of its releases, or why it cannot be followed. */
export const appStates = [
  /** Its spec, chart or values are not accepted. */
  "NotAccepted",
  "ErrApplied",
  "NotReady",
  "Modified",
  /** What is deployed is kept, but its source or chart cannot be read. */
  "Stalled",
  /** Its targets match no cluster, so it is deployed nowhere. */
  "NoTargets",
  "WaitApplied",
  "OutOfSync",
  "Pending",
  "Offline",
  /** Its spec was not reconciled yet. */
  "Progressing",
  "Ready",
] as const;
export type AppState = (typeof appStates)[number];

/** The states of a release in one cluster: the states of a BundleDeployment, in the order of `appStates`. */
export const releaseStates = [
  "ErrApplied",
  "NotReady",
  "Modified",
  "WaitApplied",
  "OutOfSync",
  "Pending",
  "Offline",
  "Ready",
] as const satisfies readonly BundleState[];
export type ReleaseState = BundleState;

/** The states of a Cluster: the state of its agent, or the worst of its releases. */
export const clusterStates = [
  "ErrApplied",
  "NotReady",
  "Offline",
  "Modified",
  "WaitApplied",
  "OutOfSync",
  "Pending",
  "WaitCheckIn",
  "Unmanaged",
  "Ready",
] as const;
export type ClusterState = (typeof clusterStates)[number];

/** The states of a source of Flux. */
export const sourceStates = ["Failed", "Progressing", "Ready"] as const;
export type SourceState = (typeof sourceStates)[number];

/** A character for each state of a release in a row of the matrix; `.`: the cluster has no release of that row. */
export const stateCharacters = {
  ErrApplied: "e",
  NotReady: "n",
  Modified: "m",
  WaitApplied: "w",
  OutOfSync: "s",
  Pending: "p",
  Offline: "o",
  Ready: "r",
} as const satisfies Readonly<Record<ReleaseState, string>>;
export const noRelease = ".";
/** The code of the character that stands for the first version of a row. */
export const firstVersionCode = 48;
