/** The status of a HelmRelease. */
import * as z from "zod";
import {
  bundleSummarySchema,
  described,
  fields,
  integer,
  lastResultsSchema,
  lastResultsText,
  lastSuccessSchema,
  lastSuccessText,
  plainText,
  rolledOutText,
  rolloutSummarySchema,
  rolloutSummaryText,
  type Typed,
} from "../fleet/index.ts";
import { conditionsSchema } from "./condition.ts";
import { lastHandledReconcileAt, namespaceName, timestamp } from "./field.ts";

/** The limit of `status.clusters`. */
export const maxReleaseClusters = 20;

const testHookSchema = fields({
  phase: plainText("`Succeeded`, `Failed` or `Running`; absent: it did not run."),
  lastStarted: timestamp("When it started, RFC 3339.").optional(),
  lastCompleted: timestamp("When it ended, RFC 3339.").optional(),
});

const snapshotSchema = fields(
  {
    apiVersion: plainText("The version of the algorithm of `digest`."),
    digest: described(z.string(), "The digest of the release's record."),
    name: described(z.string(), "The name of the release."),
    namespace: described(z.string(), "The namespace of the release."),
    version: described(z.int(), "The revision of the release."),
    status: described(z.string(), "Helm's status of the revision."),
    action: described(
      z.enum(["install", "upgrade", "rollback", "uninstall", "uninstall-remediation"]).optional(),
      "What made it.",
    ),
    chartName: described(z.string(), "The name of the chart."),
    chartVersion: described(z.string(), "The version of the chart."),
    appVersion: plainText("The version of the application in the chart."),
    configDigest: described(z.string(), "The digest of the values."),
    ociDigest: plainText("The digest of the chart's artifact in a registry."),
    firstDeployed: timestamp("When the release was installed, RFC 3339."),
    lastDeployed: timestamp("When the revision was deployed, RFC 3339."),
    deleted: timestamp("When the release was uninstalled, RFC 3339.").optional(),
    testHooks: described(
      z.record(z.string(), testHookSchema).optional(),
      "The chart's tests by name; absent: they did not run.",
    ),
  },
  "ReleaseSnapshot",
);

/** A revision of a release. */
export type ReleaseSnapshot = Typed<typeof snapshotSchema>;

const releaseClusterSchema = fields(
  {
    name: described(z.string(), "The name of the Cluster."),
    namespace: plainText("Its workspace."),
    state: described(
      z.string(),
      "The state of the release there, such as `Ready` or `ErrApplied`.",
    ),
    message: plainText("Why it is not ready."),
    revision: integer("The revision of the release there."),
    version: plainText("The version of the chart there."),
  },
  "ReleaseCluster",
);

/** A release in one of the clusters of a HelmRelease. */
export type ReleaseCluster = Typed<typeof releaseClusterSchema>;

const conditionsText = [
  "`Ready`: whether the release is installed and ready in every cluster that it goes to.",
  "`Released`, `TestSuccess`, `Remediated` and `Drifted`: whether the last installation or upgrade succeeded, and its tests; whether a failed one was rolled back or uninstalled; whether objects differ from the chart.",
  "`Reconciling`: True while it is in progress.",
  "`Stalled`: True while it cannot continue without a change.",
  rolledOutText,
].join(" ");

export const helmReleaseStatusSchema = fields({
  observedGeneration: integer("The `metadata.generation` that the status is for."),
  conditions: described(conditionsSchema, conditionsText),
  helmChart: plainText("The generated HelmChart, as `namespace/name`."),
  storageNamespace: described(namespaceName.optional(), "The namespace of the release's records."),
  history: described(
    z.array(snapshotSchema).optional(),
    "The revisions of the release, the newest first, back to the last successful one before.",
  ),
  inventory: described(
    fields({
      entries: described(
        z.array(
          fields({
            id: described(z.string(), "`namespace_name_group_kind`."),
            v: described(z.string(), "The version of its apiVersion."),
          }),
        ),
        "The objects of the release.",
      ),
    }).optional(),
    "What the release consists of.",
  ),
  failures: integer("The number of failed attempts since the last success or change."),
  installFailures: integer("The number of failed installations of them."),
  upgradeFailures: integer("The number of failed upgrades of them."),
  lastAttemptedGeneration: integer("The `metadata.generation` of the last attempt."),
  lastAttemptedReleaseAction: described(
    z.enum(["install", "upgrade"]).optional(),
    "What the last attempt was.",
  ),
  lastAttemptedReleaseActionDuration: plainText("How long it took, as in `1m30s`."),
  lastAttemptedRevision: plainText("The revision of the source of the last attempt."),
  lastAttemptedRevisionDigest: plainText("The digest of the source of the last attempt."),
  lastAttemptedConfigDigest: plainText("The digest of the values of the last attempt."),
  lastAttemptedValuesChecksum: plainText("Deprecated: see `lastAttemptedConfigDigest`."),
  lastReleaseRevision: integer("Deprecated: see `history`."),
  observedPostRenderersDigest: plainText("The digest of `spec.postRenderers`."),
  observedCommonMetadataDigest: plainText("The digest of `spec.commonMetadata`."),
  lastHandledReconcileAt,
  lastHandledForceAt: plainText(
    "The value of the annotation `reconcile.fluxcd.io/forceAt` that was handled last.",
  ),
  lastHandledResetAt: plainText(
    "The value of the annotation `reconcile.fluxcd.io/resetAt` that was handled last.",
  ),
  clusters: described(
    z.array(releaseClusterSchema).max(maxReleaseClusters).optional(),
    "The release in the clusters that it goes to, the worst first, at most twenty. Flux has no such field.",
  ),
  summary: described(
    bundleSummarySchema.optional(),
    "The releases in all clusters by state. Flux has no such field.",
  ),
  rollout: described(
    rolloutSummarySchema.optional(),
    `${rolloutSummaryText} Flux has no such field.`,
  ),
  lastResults: described(
    lastResultsSchema.optional(),
    `${lastResultsText} Flux has no such field.`,
  ),
  lastSuccess: described(
    lastSuccessSchema.optional(),
    `${lastSuccessText} Flux has no such field.`,
  ),
});

export type HelmReleaseStatus = Typed<typeof helmReleaseStatusSchema>;
