/** Summaries of deployments: counts by state, and the first that are not ready. */
import * as z from "zod";
import { described, fields, integer, plainFlag, plainText, type Typed } from "./field.ts";

/** The limit of a list in a status, which keeps it small for a fleet of any size. */
export const maxListed = 10;

/** The limit of fields of one object with drift. */
export const maxDriftFields = 4;

const objectFields = {
  apiVersion: plainText("The object's apiVersion."),
  kind: plainText("The object's kind."),
  namespace: plainText("The object's namespace."),
  name: plainText("The object's name."),
} as const;

export const modifiedStatusSchema = fields(
  {
    ...objectFields,
    missing: plainFlag("It is missing, or exists and belongs to another release."),
    exist: plainFlag("An object of that name exists that belongs to another release."),
    delete: plainFlag("It exists and should not."),
    patch: plainText(
      "The JSON patch that reverts the first changes, as JSON. Every text in it is masked, because it may be secret.",
    ),
    fields: described(
      z.array(z.string()).max(maxDriftFields).nullish(),
      "The first changed fields, as JSON pointers.",
    ),
    manager: plainText("The field manager that made the last of these changes."),
    time: plainText("When it did, RFC 3339."),
  },
  "ModifiedStatus",
);

export const nonReadyStatusSchema = fields(
  {
    uid: plainText("The object's UID."),
    ...objectFields,
    summary: described(
      fields({
        state: plainText("Its state: `in-progress`, `failed`, `terminating` or `unknown`."),
        error: plainFlag("Whether it failed."),
        transitioning: plainFlag("Whether it is in transition."),
        message: described(z.array(z.string()).nullish(), "Its own messages."),
      }).optional(),
      "Why it is not ready.",
    ),
  },
  "NonReadyStatus",
);

export const driftEventSchema = fields(
  {
    time: described(z.string(), "When it was detected, or the field was added, RFC 3339."),
    ...objectFields,
    fields: described(
      z.array(z.string()).max(maxDriftFields).nullish(),
      "The first changed fields, as JSON pointers; none: the whole object.",
    ),
    manager: plainText("The field manager that changed them, where that is known."),
    result: plainText(
      "`Detected`, `Corrected`, `CorrectionFailed`, `BackedOff` after three corrections in ten minutes, or `Foreign` for fields that others have added, which are kept.",
    ),
  },
  "DriftEvent",
);

export type DriftEvent = Typed<typeof driftEventSchema>;
export type ModifiedStatus = Typed<typeof modifiedStatusSchema>;
export type NonReadyStatus = Typed<typeof nonReadyStatusSchema>;

const nonReadyResource = fields(
  {
    name: plainText("The Bundle's or the cluster's name."),
    bundleState: plainText("Its state, such as `WaitApplied` or `Modified`."),
    message: plainText("Its message."),
    modifiedStatus: described(
      z.array(modifiedStatusSchema).nullish(),
      "The first objects with drift, at most four; the BundleDeployment lists more.",
    ),
    nonReadyStatus: described(
      z.array(nonReadyStatusSchema).nullish(),
      "The first objects that are not ready, at most four; the BundleDeployment lists more.",
    ),
  },
  "NonReadyResource",
);

/** The limit of objects of one deployment in a summary; its BundleDeployment lists more. */
export const maxListedOfOne = 4;

export const bundleSummarySchema = fields(
  {
    desiredReady: described(z.int(), "The number of desired deployments."),
    ready: described(z.int(), "The number that are deployed and ready."),
    notReady: integer("The number that are deployed and not ready."),
    waitApplied: integer("The number that their agent has not applied yet."),
    errApplied: integer("The number that failed to deploy."),
    outOfSync: integer("The number that wait for the rollout."),
    modified: integer("The number with drift."),
    pending: integer("The number that have not been dispatched yet."),
    offline: integer(
      "The number that are not ready and whose agent is offline, so that their state is unknown; they are in no other count.",
    ),
    nonReadyResources: described(
      z.array(nonReadyResource).max(maxListed).nullish(),
      "The first that are not ready, at most ten, in a stable order.",
    ),
  },
  "BundleSummary",
);

export const lastSuccessText =
  "What was last released in all connected clusters, for events and alerts: one is due when another release is, and none for a cluster that joins or leaves.";

export const lastSuccessSchema = fields(
  {
    deployment: described(
      z.string(),
      "The BundleDeployment that stands for all, as `namespace/name`.",
    ),
    uid: described(z.string(), "Its UID."),
    release: described(z.string(), "Its Helm release, `namespace/name:revision`."),
    version: described(z.string(), "The version of its chart."),
  },
  "LastSuccess",
);

export type LastSuccess = Typed<typeof lastSuccessSchema>;

export const lastResultsText =
  "What last failed, was tested and has drifted, each in one cluster that stands for all, for events and alerts: one is due when it is another failure, test or drift.";

const standingFields = {
  deployment: described(
    z.string(),
    "The BundleDeployment that stands for all, as `namespace/name`.",
  ),
  uid: described(z.string(), "Its UID."),
};

export const lastResultsSchema = fields(
  {
    failure: described(
      fields({
        ...standingFields,
        cluster: described(z.string(), "Its Cluster, as `namespace/name`."),
        content: described(z.string(), "The content that was attempted: `sha256:` and its digest."),
        message: described(z.string(), "Why it failed, without the time of the next attempt."),
      }).optional(),
      "The last failure; absent: nothing fails.",
    ),
    test: described(
      fields({
        ...standingFields,
        release: described(
          z.string(),
          "The Helm release that was tested, `namespace/name:revision`.",
        ),
      }).optional(),
      "The last test; absent: there is none.",
    ),
    drift: described(
      fields({
        ...standingFields,
        object: described(z.string(), "The object, as `configmap.v1 NAMESPACE/NAME`."),
        fields: described(z.array(z.string()).optional(), "The fields, as JSON pointers."),
        result: described(z.string(), "What came of it, as in the history of drift."),
      }).optional(),
      "The last drift; absent: there is none.",
    ),
  },
  "LastResults",
);

export type LastResults = Typed<typeof lastResultsSchema>;

export type BundleSummary = Typed<typeof bundleSummarySchema>;

export const resourceCountsSchema = fields(
  {
    desiredReady: described(z.int(), "The number of desired objects."),
    ready: described(z.int(), "The number of ready objects."),
    notReady: described(z.int(), "The number of objects that are not ready."),
    missing: described(z.int(), "The number of missing objects."),
    modified: described(z.int(), "The number of objects with drift."),
    orphaned: described(z.int(), "The number of objects that exist and should not."),
    unknown: described(z.int(), "The number of objects whose state is unknown."),
    waitApplied: described(
      z.int(),
      "The number of objects of deployments that have not been applied yet.",
    ),
  },
  "ResourceCounts",
);

export type ResourceCounts = Typed<typeof resourceCountsSchema>;

/** The states of a deployed object, from the one that needs attention most to the one that needs none. */
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

/** The states of a deployment, from the one that needs attention most to the one that needs none. */
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

/** A cluster whose agent is offline, and since when. */
const offlineClusterSchema = fields(
  {
    name: plainText("The cluster, as `namespace/name`."),
    since: plainText("When its agent was last known to be connected; absent if it never was."),
  },
  "OfflineCluster",
);

/** Target clusters that are offline: the states of their deployments are the last reported ones. */
export const offlineClustersFields = {
  offlineClusterCount: integer(
    "The number of target clusters whose agent is offline, including those where it was ready.",
  ),
  offlineClusters: described(
    z.array(offlineClusterSchema).max(maxListed).nullish(),
    "The first of them by name, at most ten; the state of each is the last that its agent reported.",
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
  /** An installed object was modified in the cluster. */
  readonly isModified: boolean;
}

/** The state of a deployment that is counted and that dependencies wait for. The precedence is Fleet's. */
export function bundleStateOf(observed: DeploymentObservation): BundleState {
  if (!observed.isApplied) return observed.hasFailed ? "ErrApplied" : "WaitApplied";
  if (!observed.isReady) return "NotReady";
  if (observed.isHeldBack) return "OutOfSync";
  return observed.isModified ? "Modified" : "Ready";
}
