/** A Bundle: a HelmOp with every version resolved, and its targets. */
import * as z from "zod";
import { pinSchema } from "../../charts/source/index.ts";
import type { KubeObject } from "../../kubernetes/objects/index.ts";
import { bundleDeploymentOptionsFields } from "./bundle-deployment-options.ts";
import { bundleOriginSchema } from "./bundle-origin.ts";
import { targetRestrictionSchema, targetsSchema } from "./bundle-target.ts";
import { conditionsSchema } from "./condition.ts";
import {
  described,
  fields,
  flag,
  integer,
  list,
  plainFlag,
  plainText,
  type Typed,
  text,
} from "./field.ts";
import { maxExpressionLength } from "./health-checks.ts";
import { selector } from "./label-selector.ts";
import {
  pinCheckDescription,
  pinCheckSchema,
  rejectedCodeDescription,
  resolutionSchema,
} from "./resolution.ts";
import { rolledOutText, rolloutSummarySchema, rolloutSummaryText } from "./rollout-status.ts";
import { rolloutStrategySchema } from "./rollout-strategy.ts";
import {
  bundleSummarySchema,
  lastResultsSchema,
  lastResultsText,
  lastSuccessSchema,
  lastSuccessText,
  offlineClustersFields,
  resourceCountsSchema,
} from "./summary.ts";

const dependency = fields({
  name: text("The Bundle's name."),
  selector: selector("Labels of the Bundles. With a name, both must hold."),
  acceptedStates: list("The accepted states; absent: `Ready`."),
  readyExpr: text(
    "A CEL expression that is true when the dependency is met, in place of `acceptedStates`. Variables are `self` and `dep`: `metadata` (name, namespace, labels) and `status` of this Bundle and of the dependency in the cluster (`state`, `ready`, `message`, `observedGeneration`, `conditions`, `release`, `history`).",
    { maxLength: maxExpressionLength },
  ),
});

const bundleResource = fields({
  name: text("The file's name."),
  content: text("The file's content."),
  encoding: text("How the content is written: empty for plain text, `base64`, or `base64+gz`."),
});

/** The fields that a HelmOp's spec shares with a Bundle's. */
export const bundleSpecFields = {
  ...bundleDeploymentOptionsFields,
  paused: flag(
    "Prepare changes, but dispatch none of them; what is deployed stays, and is not watched for drift.",
  ),
  targets: described(
    targetsSchema,
    "The clusters to deploy to. Each cluster gets the options of the first target that matches it.",
    {
      "x-default-text": "the ClusterGroup `default` of the namespace",
    },
  ),
  targetRestrictions: described(
    z.array(targetRestrictionSchema).nullish(),
    "The clusters that the targets may reach; those that no entry matches get nothing, whatever the targets say.",
  ),
  targetCustomizationMode: described(
    z.enum(["FirstMatch", "AllMatches"]).optional(),
    "How many of the customizations apply to a cluster: the targets before the last ones, of which there are as many as restrictions. Without `targetRestrictions`, and on a HelmOp, it has no effect.",
    { "x-default-text": "FirstMatch" },
  ),
  rolloutStrategy: described(
    rolloutStrategySchema.nullish(),
    "The steps in which a change is rolled out to the clusters.",
  ),
  dependsOn: described(
    z.array(dependency).nullish(),
    "Bundles that must be deployed in a cluster before this one.",
  ),
  resources: described(
    z.array(bundleResource).nullish(),
    "Files of Bundles made from Git. A HelmOp's are ignored.",
  ),
  contentsId: text("Internal to Fleet: where the resources are stored."),
  valuesHash: text("Internal to Fleet: the digest of the values."),
} as const;

export const chartPinSchema = fields({
  repo: described(z.string(), "The requested repository."),
  chart: described(z.string(), "The requested chart."),
  version: described(z.string(), "The requested version or constraint."),
  pin: described(pinSchema, "The archive that it was resolved to, by address and digest."),
  note: plainText(
    "A problem of the resolved chart, for people; it is checked again with the next request to the source.",
  ),
});

/** A requested chart and the archive that it was resolved to. */
export type ChartPin = Typed<typeof chartPinSchema>;

const helmOpOptionsSchema = fields({
  helmOpSecretName: text("The Secret with the credentials for the chart's source."),
  helmOpInsecureSkipTLSVerify: plainFlag("Do not verify the certificate of the chart's source."),
  helmOpCABundle: described(
    z.string().nullish(),
    "Certificate authorities for the chart's source, in base64.",
  ),
  pins: described(
    z.array(chartPinSchema).optional(),
    "The archive that each chart reference of the HelmOp was resolved to.",
  ),
  pinSignature: plainText(
    "The hub's HMAC signature of the pins, and of the whole spec if there is an origin; without a valid one they are ignored.",
  ),
  origin: described(
    bundleOriginSchema.optional(),
    "What the Bundle was made for, unless that is a HelmOp: written by the hub alone.",
  ),
});

const bundleSpecSchema = fields({
  ...bundleSpecFields,
  helmOpOptions: described(
    helmOpOptionsSchema.nullish(),
    "Present in Bundles of HelmOps: where the chart comes from.",
  ),
});

const partitionStatus = fields({
  name: plainText("The partition's name."),
  count: integer("The number of its clusters."),
  maxUnavailable: integer("The number of clusters that may be unavailable."),
  unavailable: integer("The number of unavailable clusters."),
  summary: described(bundleSummarySchema.optional(), "Their deployments by state."),
});

const bundleConditionsText = [
  "`Accepted`: whether the Bundle can be deployed. False has the reason; True may have notes, such as targets that do not exist.",
  "`Ready`: whether everything is deployed and ready in every cluster that it goes to.",
  rolledOutText,
].join(" ");

const bundleStatusSchema = fields({
  conditions: described(conditionsSchema, bundleConditionsText),
  summary: described(bundleSummarySchema.optional(), "The deployments by state."),
  lastSuccess: described(lastSuccessSchema.optional(), lastSuccessText),
  lastResults: described(lastResultsSchema.optional(), lastResultsText),
  ...offlineClustersFields,
  newlyCreated: integer("The number of clusters that are in their first installation."),
  unavailable: integer("The number of unavailable clusters."),
  unavailablePartitions: integer("The number of unavailable partitions."),
  maxNew: integer("The number of clusters that may be in their first installation at one time."),
  maxUnavailable: integer("The number of clusters that may be unavailable."),
  maxUnavailablePartitions: integer("The number of partitions that may be unavailable."),
  partitions: described(
    z.array(partitionStatus).nullish(),
    "The partitions of the rollout; with stages, the stages.",
  ),
  rollout: described(rolloutSummarySchema.optional(), rolloutSummaryText),
  display: described(
    fields({
      readyClusters: plainText("How many of its clusters are ready, as in `3/5`."),
      counts: plainText("All of them in words, as in `3 ready, 1 failing, 2 offline`."),
      state: plainText(
        "The state of the deployment that needs attention most; empty when all are ready.",
      ),
    }).optional(),
    "For `kubectl get` and the dashboard.",
  ),
  observedGeneration: integer("The `metadata.generation` that the status is for."),
  resourcesSha256Sum: plainText("Internal to Fleet: the digest of the resources."),
  resourceCounts: described(resourceCountsSchema.optional(), "The deployed objects by state."),
  version: plainText("The version of its chart that is rolled out."),
  lastHandledReconcileAt: plainText(
    "The value of the annotation `reconcile.fluxcd.io/requestedAt` that was handled last, with or without success; absent where the Bundle was made for a HelmOp.",
  ),
  rejectedCode: plainText(rejectedCodeDescription),
  pins: described(
    z.array(chartPinSchema).optional(),
    "The archive that each chart reference was resolved to; absent where the Bundle was made for a HelmOp.",
  ),
  resolution: described(
    resolutionSchema.optional(),
    "The schedule of retries, and the result of the last attempt; absent where the Bundle was made for a HelmOp.",
  ),
  pinCheck: described(pinCheckSchema.optional(), pinCheckDescription),
  targets: integer("How many clusters its targets match."),
  uncheckedContents: described(
    z.record(z.string(), z.string()).optional(),
    "The sources of contents whose chart has no digest, by the content's digest: agents take what they get.",
  ),
});

export type BundleSpec = Typed<typeof bundleSpecSchema>;
export type BundleStatus = Typed<typeof bundleStatusSchema>;

export interface Bundle extends KubeObject {
  readonly spec: BundleSpec;
  readonly status?: BundleStatus;
}

export const bundleSchemas = { spec: bundleSpecSchema, status: bundleStatusSchema } as const;
