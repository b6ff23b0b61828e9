/** A HelmOp: a chart, a version or a constraint, and the clusters that it goes to. What people write. */
import { z } from "zod";
import type { KubeObject } from "../kube/objects/object.ts";
import { bundleSpecFields, chartPinSchema } from "./bundle.ts";
import { conditionsSchema } from "./condition.ts";
import { chartSourceRules, releaseNameRule } from "./crd/rules.ts";
import { duration } from "./duration.ts";
import {
  described,
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
import {
  helmDescription,
  helmOptionsSchema,
  maxReleaseNameLength,
  releaseNameDescription,
} from "./helm-options.ts";
import { pinCheckDescription, pinCheckSchema, resolutionSchema } from "./resolution.ts";
import {
  bundleSummarySchema,
  maxListed,
  offlineClustersFields,
  resourceCountsSchema,
  resourceStates,
} from "./summary.ts";

/** As everywhere else, with rules that the API server can afford in this one place only. */
const checkedHelmOptions = helmOptionsSchema
  .extend({
    releaseName: described(
      z
        .string()
        .max(maxReleaseNameLength)
        .meta({ "x-kubernetes-validations": [releaseNameRule] })
        .nullish(),
      releaseNameDescription,
      { "x-default-text": "made from the HelmOp's name" },
    ),
  })
  .meta({ title: "HelmOptions", "x-kubernetes-validations": chartSourceRules });

/** As many objects, and clusters of `perClusterResourceCounts`, as a status tells of. */
export const maxResources = 50;
export const maxCountedClusters = 20;

const helmOpSpecSchema = fields({
  ...bundleSpecFields,
  helm: described(checkedHelmOptions.nullish(), helmDescription),
  labels: texts("Labels for the Bundle, which other objects' `dependsOn` can select by."),
  pollingInterval: described(
    duration.nullish(),
    "How often the repository is asked for a newer version that the constraint allows, as in `5m` or `1h30m`. Units are `h`, `m`, `s`, `ms`, `us` and `ns`; it is rounded to whole seconds. `0` turns polling off. HelmOps that share a repository and an interval are polled at the same moment, with one request. Without polling, a constraint is resolved once and kept until the source or the constraint changes, or until somebody asks with the annotation `reconcile.fluxcd.io/requestedAt`.",
    { "x-default-text": "no polling" },
  ),
  helmSecretName: text(
    "A Secret in the HelmOp's namespace with the credentials for the chart's source: `username` and `password`, or `bearerToken`, or `.dockerconfigjson`; `tls.crt` and `tls.key`; `cacerts` or `ca.crt`; `insecureSkipVerify`; `basicHTTP`.",
  ),
  insecureSkipTLSVerify: flag("Do not check the certificate of the chart's source."),
  suspend: flag(
    "Stop polling, and leave requests of the annotation `reconcile.fluxcd.io/requestedAt` open until it is false again. What is deployed stays as it is.",
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
  incompleteState: plainFlag("Whether some clusters were left out."),
  state: plainText(
    "The worst state that it has anywhere, such as `Missing` or `NotReady`; else `Ready`.",
  ),
  error: plainFlag("Whether it failed in the first cluster of that state."),
  transitioning: plainFlag("Whether it is on its way there."),
  message: plainText("What it says there."),
  perClusterState: described(
    z.partialRecord(z.enum(resourceStates), z.array(z.string()).max(maxListed)).optional(),
    "The first clusters in which it has each state, by name, at most ten of each.",
  ),
});

const conditionsText = [
  "`Accepted`: whether the HelmOp can be carried out; what is to be known besides is in its message.",
  "`Polled`: what the last poll came to; there while the HelmOp is polled.",
  "`Ready`: whether everything is deployed and ready in every cluster that it goes to.",
  "`Reconciling`: True while its chart is looked for or a rollout is under way.",
  "`Stalled`: True while its chart cannot be resolved or its repository cannot be polled, with why and when it is tried again.",
].join(" ");

const helmOpStatusSchema = fields({
  observedGeneration: integer("The `metadata.generation` that the status speaks of."),
  conditions: described(conditionsSchema, conditionsText),
  version: plainText(
    "The version that everybody gets; of a bare archive's address, the one that clusters report once they have it.",
  ),
  lastPollingTriggered: time("When the last poll began, whatever its result."),
  polling: described(
    resolutionSchema.optional(),
    "The schedule of polls and retries, and the result of the last attempt.",
  ),
  pins: described(
    z.array(chartPinSchema).optional(),
    "The archive that each chart reference of the HelmOp was resolved to.",
  ),
  pinCheck: described(pinCheckSchema.optional(), pinCheckDescription),
  lastHandledReconcileAt: plainText(
    "The value of the annotation `reconcile.fluxcd.io/requestedAt` that was handled last, whatever came of it.",
  ),
  lastHandledPollRequest: plainText(
    "The value of the annotation `flotilla.dev/poll-requested-at`, which registries' webhooks set, that was handled last.",
  ),
  readyClusters: integer("How many clusters have all of it ready."),
  desiredReadyClusters: integer("How many clusters it goes to."),
  ...offlineClustersFields,
  summary: described(bundleSummarySchema.optional(), "The deployments by state."),
  display: described(
    fields({
      readyBundleDeployments: plainText("How many of its deployments are ready, as in `3/5`."),
      counts: plainText("All of them in words, as in `3 ready, 1 failing, 2 offline`."),
      state: plainText(
        "The state of the deployment that needs attention most; empty when all are ready.",
      ),
      message: plainText("What that deployment says."),
      error: plainFlag("Whether there is such a message."),
    }).optional(),
    "For `kubectl get` and the dashboard.",
  ),
  resources: described(
    z.array(resourceSchema).max(maxResources).nullish(),
    "The deployed objects over all clusters, by kind, namespace and name: at most fifty, those first that are not ready somewhere, as many as 32 KiB hold. `resourceCounts` counts all of them.",
  ),
  resourceCounts: described(resourceCountsSchema.optional(), "The deployed objects by state."),
  perClusterResourceCounts: described(
    z.record(z.string(), resourceCountsSchema).nullish(),
    "The deployed objects by state for the clusters that need attention most, by `namespace/name`: at most twenty, the worst state first, then by name. Fleet has an entry for each cluster, whatever their number.",
  ),
});

export type HelmOpSpec = Typed<typeof helmOpSpecSchema>;
export type HelmOpStatus = Typed<typeof helmOpStatusSchema>;

export interface HelmOp extends KubeObject {
  readonly spec: HelmOpSpec;
  readonly status?: HelmOpStatus;
}

export const helmOpSchemas = { spec: helmOpSpecSchema, status: helmOpStatusSchema } as const;
