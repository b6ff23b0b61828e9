/** What many deployments come to: counts by state, and the first that are not ready. */
import { z } from "zod";
import { described, fields, integer, plainFlag, plainText, type Typed } from "./field.ts";

/** As many entries as a status lists, so that it stays small whatever the size of the fleet. */
export const maxListed = 10;

const objectFields = {
  apiVersion: plainText("The object's apiVersion."),
  kind: plainText("The object's kind."),
  namespace: plainText("The object's namespace."),
  name: plainText("The object's name."),
} as const;

export const modifiedStatusSchema = fields(
  {
    ...objectFields,
    missing: plainFlag("It should be there and is not, or is not ours."),
    exist: plainFlag("An object of that name is there that is not ours."),
    delete: plainFlag("It is there and should not be."),
    patch: plainText("What would have to change to undo the change, as JSON."),
  },
  "ModifiedStatus",
);

export const nonReadyStatusSchema = fields(
  {
    uid: plainText("The object's UID."),
    ...objectFields,
    summary: described(
      fields({
        state: plainText("What it is doing: `in-progress`, `failed`, `terminating` or `unknown`."),
        error: plainFlag("Whether it failed."),
        transitioning: plainFlag("Whether it is on its way."),
        message: described(z.array(z.string()).nullish(), "What it says itself."),
      }).optional(),
      "Why it does not count as ready.",
    ),
  },
  "NonReadyStatus",
);

export type ModifiedStatus = Typed<typeof modifiedStatusSchema>;
export type NonReadyStatus = Typed<typeof nonReadyStatusSchema>;

const nonReadyResource = fields(
  {
    name: plainText("The Bundle's or the cluster's name."),
    bundleState: plainText("Its state, such as `WaitApplied` or `Modified`."),
    message: plainText("What it says."),
    modifiedStatus: described(
      z.array(modifiedStatusSchema).nullish(),
      "The first objects that somebody changed, at most four; the BundleDeployment names more.",
    ),
    nonReadyStatus: described(
      z.array(nonReadyStatusSchema).nullish(),
      "The first objects that are not ready, at most four; the BundleDeployment names more.",
    ),
  },
  "NonReadyResource",
);

/** What rolls up from deployments keeps fewer objects of each, and no patches: a BundleDeployment has the rest. */
export const maxListedOfOne = 4;

export const bundleSummarySchema = fields(
  {
    desiredReady: described(z.int(), "How many there should be."),
    ready: described(z.int(), "How many are deployed and ready."),
    notReady: integer("How many are deployed and not ready."),
    waitApplied: integer("How many have not been carried out by their agent yet."),
    errApplied: integer("How many could not be deployed."),
    outOfSync: integer("How many wait for the rollout."),
    modified: integer("How many were changed by somebody in their cluster."),
    pending: integer("How many have not been handed out yet."),
    offline: integer(
      "How many are not ready and cannot be judged, because no agent of their cluster is connected; they count in none of the others.",
    ),
    nonReadyResources: described(
      z.array(nonReadyResource).max(maxListed).nullish(),
      "The first that are not ready, at most ten, in a stable order.",
    ),
  },
  "BundleSummary",
);

export type BundleSummary = Typed<typeof bundleSummarySchema>;

export const resourceCountsSchema = fields(
  {
    desiredReady: described(z.int(), "How many objects there should be."),
    ready: described(z.int(), "How many are ready."),
    notReady: described(z.int(), "How many are not ready."),
    missing: described(z.int(), "How many are not there."),
    modified: described(z.int(), "How many were changed by somebody."),
    orphaned: described(z.int(), "How many are there and should not be."),
    unknown: described(z.int(), "How many cannot be judged."),
    waitApplied: described(
      z.int(),
      "How many belong to deployments that have not been carried out yet.",
    ),
  },
  "ResourceCounts",
);

export type ResourceCounts = Typed<typeof resourceCountsSchema>;

/** What a deployed object can be, from what needs somebody's attention most to what needs none. */
export const resourceStates = [
  "missing",
  "modified",
  "orphaned",
  "notReady",
  "unknown",
  "waitApplied",
  "pending",
  "ready",
] as const;

export type ResourceStateName = (typeof resourceStates)[number];

/** The states of a deployment, from the one that needs somebody's attention most to the one that needs none. */
export const bundleStates = [
  "ErrApplied",
  "WaitApplied",
  "Modified",
  "OutOfSync",
  "Pending",
  "NotReady",
  "Offline",
  "Ready",
] as const;

/** A cluster of which nothing is heard, and since when. */
const offlineClusterSchema = fields(
  {
    name: plainText("The cluster, as `namespace/name`."),
    since: plainText("When its agent was last known to be connected; absent where it never was."),
  },
  "OfflineCluster",
);

/** Of what goes to many clusters: what is told of these is as of then. */
export const offlineClustersFields = {
  offlineClusterCount: integer(
    "To how many clusters it goes whose agent is not connected, those where it was ready included.",
  ),
  offlineClusters: described(
    z.array(offlineClusterSchema).max(maxListed).nullish(),
    "The first of them by name, at most ten: what is told of one is as of when it was last heard of.",
  ),
} as const;

export type OfflineCluster = Typed<typeof offlineClusterSchema>;

export type BundleState = (typeof bundleStates)[number];

export interface DeploymentObservation {
  /** The desired content is the applied one. */
  readonly isApplied: boolean;
  /** The last attempt to apply it failed. */
  readonly hasFailed: boolean;
  readonly isReady: boolean;
  /** A newer content waits behind the rollout. */
  readonly isHeldBack: boolean;
  /** An installed object was changed by somebody else. */
  readonly isModified: boolean;
}

/** The state of a deployment that is counted and that dependencies wait for. The precedence is Fleet's. */
export function bundleStateOf(observed: DeploymentObservation): BundleState {
  if (!observed.isApplied) return observed.hasFailed ? "ErrApplied" : "WaitApplied";
  if (!observed.isReady) return "NotReady";
  if (observed.isHeldBack) return "OutOfSync";
  return observed.isModified ? "Modified" : "Ready";
}
