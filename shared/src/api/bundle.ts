/** A Bundle: what a HelmOp came to, with every version resolved, and the clusters that it goes to. */
import { z } from "zod";
import { pinSchema } from "../charts/pin.ts";
import type { KubeObject } from "../kube/objects/object.ts";
import { bundleDeploymentOptionsFields } from "./bundle-deployment-options.ts";
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
import { selector } from "./label-selector.ts";
import { pinCheckDescription, pinCheckSchema, resolutionSchema } from "./resolution.ts";
import { rolloutStrategySchema } from "./rollout-strategy.ts";
import { bundleSummarySchema, offlineClustersFields, resourceCountsSchema } from "./summary.ts";

const dependency = fields({
  name: text("The Bundle's name."),
  selector: selector("Labels of the Bundles. With a name, both must hold."),
  acceptedStates: list("The states that are good enough; absent: `Ready`."),
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
    "Prepare changes and hand none of them out; what is deployed stays, and is not watched for changes.",
  ),
  targets: described(
    targetsSchema,
    "Where it goes. Each cluster gets the options of the first target that matches it.",
    {
      "x-default-text": "the ClusterGroup `default` of the namespace",
    },
  ),
  targetRestrictions: described(
    z.array(targetRestrictionSchema).nullish(),
    "Internal to Fleet: where it may go at all.",
  ),
  targetCustomizationMode: described(
    z.enum(["FirstMatch", "AllMatches"]).optional(),
    "Internal to Fleet: how many of a Git repository's customizations apply to a cluster.",
    { "x-default-text": "FirstMatch" },
  ),
  rolloutStrategy: described(
    rolloutStrategySchema.nullish(),
    "In which steps a change goes through the clusters.",
  ),
  dependsOn: described(
    z.array(dependency).nullish(),
    "Bundles that must be deployed in a cluster before this one is.",
  ),
  resources: described(
    z.array(bundleResource).nullish(),
    "Files of Bundles made from Git. A HelmOp's are ignored.",
  ),
  contentsId: text("Internal to Fleet: where the resources are stored."),
  valuesHash: text("Internal to Fleet: the digest of the values."),
} as const;

export const chartPinSchema = fields({
  repo: described(z.string(), "The repository that was asked for."),
  chart: described(z.string(), "The chart that was asked for."),
  version: described(z.string(), "The version or the constraint that was asked for."),
  pin: described(pinSchema, "What it came to: exactly one archive, by address and digest."),
  note: plainText(
    "What a person should know of it although it was resolved, as a sentence; it holds until the source is asked again.",
  ),
});

/** A chart as it was asked for, and the one archive that it came to. */
export type ChartPin = Typed<typeof chartPinSchema>;

const helmOpOptionsSchema = fields({
  helmOpSecretName: text("The Secret with the credentials for the chart's source."),
  helmOpInsecureSkipTLSVerify: plainFlag("Do not check the certificate of the chart's source."),
  helmOpCABundle: described(
    z.string().nullish(),
    "Certificates to trust for the chart's source, base64.",
  ),
  pins: described(
    z.array(chartPinSchema).optional(),
    "What every chart that the HelmOp asks for came to.",
  ),
  pinSeal: plainText(
    "The hub's word that it resolved these pins; without it they count for nothing.",
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
  count: integer("How many clusters it has."),
  maxUnavailable: integer("How many of them may be unavailable."),
  unavailable: integer("How many of them are."),
  summary: described(bundleSummarySchema.optional(), "Their deployments by state."),
});

const bundleConditionsText = [
  "`Accepted`: whether the Bundle can be deployed. False has the reason; True may have notes, such as targets that do not exist.",
  "`Ready`: whether everything is deployed and ready in every cluster that it goes to.",
].join(" ");

const bundleStatusSchema = fields({
  conditions: described(conditionsSchema, bundleConditionsText),
  summary: described(bundleSummarySchema.optional(), "The deployments by state."),
  ...offlineClustersFields,
  newlyCreated: integer("How many clusters got the Bundle for the first time in the last step."),
  unavailable: integer("How many clusters are unavailable."),
  unavailablePartitions: integer("How many partitions are unavailable."),
  maxNew: integer("How many clusters may get the Bundle for the first time in one step."),
  maxUnavailable: integer("How many clusters may be unavailable."),
  maxUnavailablePartitions: integer("How many partitions may be unavailable."),
  partitions: described(
    z.array(partitionStatus).nullish(),
    "The partitions that the rollout goes through.",
  ),
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
  observedGeneration: integer("The `metadata.generation` that the status speaks of."),
  resourcesSha256Sum: plainText("Internal to Fleet: the digest of the resources."),
  resourceCounts: described(resourceCountsSchema.optional(), "The deployed objects by state."),
  version: plainText("The version of its chart that is handed out."),
  lastHandledReconcileAt: plainText(
    "Of a Bundle that was not made for a HelmOp: the value of the annotation `reconcile.fluxcd.io/requestedAt` that was handled last, whatever came of it.",
  ),
  pins: described(
    z.array(chartPinSchema).optional(),
    "Of a Bundle that was not made for a HelmOp: the archive that each chart reference was resolved to.",
  ),
  resolution: described(
    resolutionSchema.optional(),
    "Of a Bundle that was not made for a HelmOp: the schedule of retries, and the result of the last attempt.",
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
