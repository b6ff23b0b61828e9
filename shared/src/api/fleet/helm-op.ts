/** A HelmOp: a chart, a version or constraint, and its targets. Written by users. */
import * as z from "zod";
import type { KubeObject } from "../../kubernetes/objects/index.ts";
import { bundleSpecFields, chartPinSchema } from "./bundle.ts";
import { conditionsSchema } from "./condition.ts";
import {
  described,
  duration,
  fields,
  flag,
  freeForm,
  integer,
  plainFlag,
  plainText,
  type Typed,
  text,
  texts,
  time,
} from "./field.ts";
import { helmDescription, helmOptionsSchema, releaseNameDescription } from "./helm-options.ts";
import { maxReleaseNameLength } from "./names/index.ts";
import {
  pinCheckDescription,
  pinCheckSchema,
  rejectedCodeDescription,
  resolutionSchema,
} from "./resolution.ts";
import { rolledOutText, rolloutSummarySchema, rolloutSummaryText } from "./rollout-status.ts";
import {
  bundleSummarySchema,
  lastResultsSchema,
  lastResultsText,
  lastSuccessSchema,
  lastSuccessText,
  maxListed,
  offlineClustersFields,
  resourceCountsSchema,
  resourceStates,
} from "./summary.ts";
import { chartSourceRules, releaseNameRule } from "./validation-rules.ts";

/** The Helm options with validation rules, which are within the cost budget of the API server here only. */
const checkedHelmOptions = helmOptionsSchema
  .extend({
    releaseName: described(
      z
        .string()
        .max(maxReleaseNameLength)
        .meta({ "x-kubernetes-validations": [releaseNameRule] })
        .nullish(),
      releaseNameDescription,
      { "x-default-text": "derived from the HelmOp's name" },
    ),
  })
  .meta({ title: "HelmOptions", "x-kubernetes-validations": chartSourceRules });

/** The limits of `status.resources` and of `status.perClusterResourceCounts`. */
export const maxResources = 50;
export const maxCountedClusters = 20;

const helmOpSpecSchema = fields({
  ...bundleSpecFields,
  helm: described(checkedHelmOptions.nullish(), helmDescription),
  labels: texts("Labels of the Bundle, which `dependsOn` of others can select."),
  pollingInterval: described(
    duration.nullish(),
    "How often the repository is polled for a newer version that satisfies the constraint, as in `5m` or `1h30m`. Units are `h`, `m`, `s`, `ms`, `us` and `ns`; it is rounded to whole seconds. `0` disables polling. HelmOps with the same repository and interval are polled at the same time, with one request. Without polling, a constraint is resolved once, and again when the source or the constraint changes, or on request with the annotation `reconcile.fluxcd.io/requestedAt`.",
    { "x-default-text": "no polling" },
  ),
  helmSecretName: text(
    "A Secret in the HelmOp's namespace with the credentials for the chart's source: `username` and `password`, or `bearerToken`, or `.dockerconfigjson`; `tls.crt` and `tls.key`; `cacerts` or `ca.crt`; `insecureSkipVerify`; `basicHTTP`.",
  ),
  insecureSkipTLSVerify: flag("Do not verify the certificate of the chart's source."),
  suspend: flag(
    "Do nothing, until it is false again: no polling, no requests with the annotation `reconcile.fluxcd.io/requestedAt`, and nothing is installed, upgraded, tested, corrected or uninstalled. Deleting a suspended HelmOp leaves its releases installed.",
  ),
  helmOpOptions: freeForm("Internal to Fleet; ignored in a HelmOp."),
});

const resourceSchema = fields({
  apiVersion: plainText("The objects' apiVersion."),
  kind: plainText("The objects' kind."),
  type: plainText("Group and kind in lower case, as Rancher writes them."),
  id: plainText("`namespace/name`, or the name of a cluster-scoped object."),
  namespace: plainText("The objects' namespace."),
  name: plainText("The objects' name."),
  incompleteState: plainFlag("Whether some clusters are not included."),
  state: plainText(
    "The worst state in any cluster, such as `Missing` or `NotReady`; otherwise `Ready`.",
  ),
  error: plainFlag("Whether it failed in the first cluster of that state."),
  transitioning: plainFlag("Whether it is in transition there."),
  message: plainText("Its message there."),
  perClusterState: described(
    z.partialRecord(z.enum(resourceStates), z.array(z.string()).max(maxListed)).optional(),
    "The first clusters with each state, by name, at most ten for each.",
  ),
});

const conditionsText = [
  "`Accepted`: whether the HelmOp is valid; the message also has notes.",
  "`Polled`: the result of the last poll; present while the HelmOp is polled.",
  "`Ready`: whether everything is deployed and ready in every target cluster.",
  "`Reconciling`: True while its chart is being resolved or a rollout is in progress.",
  "`Released`, `TestSuccess`, `Remediated` and `Drifted`: the releases in the clusters, with Flux's reasons: whether the last installation or upgrade succeeded, and its tests; whether a failed one was rolled back or uninstalled; whether objects differ from the chart. The message names the first cluster that decides it.",
  "`Stalled`: True while its chart cannot be resolved or its repository cannot be polled, with the reason and the time of the next retry.",
  rolledOutText,
].join(" ");

const helmOpStatusSchema = fields({
  observedGeneration: integer("The `metadata.generation` that the status is for."),
  conditions: described(conditionsSchema, conditionsText),
  version: plainText(
    "The version that is deployed to all clusters; for the address of an archive, the version that clusters report.",
  ),
  lastPollingTriggered: time("When the last poll began, whatever its result."),
  polling: described(
    resolutionSchema.optional(),
    "The schedule of polls and retries, and the result of the last attempt.",
  ),
  rejectedCode: plainText(rejectedCodeDescription),
  pins: described(
    z.array(chartPinSchema).optional(),
    "The archive that each chart reference of the HelmOp was resolved to, except where its address has a password or a query.",
  ),
  pinCheck: described(pinCheckSchema.optional(), pinCheckDescription),
  lastHandledReconcileAt: plainText(
    "The value of the annotation `reconcile.fluxcd.io/requestedAt` that was handled last, with any result.",
  ),
  lastHandledPollRequest: plainText(
    "The value of the annotation `flotilla.dev/poll-requested-at`, which registries' webhooks set, that was handled last.",
  ),
  rollout: described(rolloutSummarySchema.optional(), rolloutSummaryText),
  readyClusters: integer("The number of clusters in which all of it is ready."),
  desiredReadyClusters: integer("The number of target clusters."),
  lastSuccess: described(lastSuccessSchema.optional(), lastSuccessText),
  lastResults: described(lastResultsSchema.optional(), lastResultsText),
  ...offlineClustersFields,
  summary: described(bundleSummarySchema.optional(), "The deployments by state."),
  display: described(
    fields({
      readyBundleDeployments: plainText("The number of ready deployments, as in `3/5`."),
      counts: plainText("The deployments by state, as in `3 ready, 1 failing, 2 offline`."),
      state: plainText(
        "The state of the deployment that needs attention most; empty when all are ready.",
      ),
      message: plainText("The message of that deployment."),
      error: plainFlag("Whether there is such a message."),
    }).optional(),
    "For `kubectl get` and the dashboard.",
  ),
  resources: described(
    z.array(resourceSchema).max(maxResources).nullish(),
    "The deployed objects of all clusters, at most fifty and 32 KiB: those that are not ready in some cluster first, then by kind, namespace and name. `resourceCounts` counts all of them.",
  ),
  resourceCounts: described(resourceCountsSchema.optional(), "The deployed objects by state."),
  perClusterResourceCounts: described(
    z.record(z.string(), resourceCountsSchema).nullish(),
    "The deployed objects by state for the clusters that need attention most, by `namespace/name`: at most twenty, the worst state first, then by name. Fleet has an entry for each cluster.",
  ),
});

export type HelmOpSpec = Typed<typeof helmOpSpecSchema>;
export type HelmOpStatus = Typed<typeof helmOpStatusSchema>;

export interface HelmOp extends KubeObject {
  readonly spec: HelmOpSpec;
  readonly status?: HelmOpStatus;
}

export const helmOpSchemas = { spec: helmOpSpecSchema, status: helmOpStatusSchema } as const;
