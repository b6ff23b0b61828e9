/** Flux's HelmChart: a chart of a source. Written by users, or generated for a HelmRelease. */
import * as z from "zod";
import type { KubeObject } from "../../kubernetes/objects/index.ts";
import { described, fields, plainText, type Typed } from "../fleet/index.ts";
import { duration, flag, strings, suspend } from "./field.ts";
import { sourceStatusFields } from "./source-status.ts";
import { chartVerification } from "./verify.ts";

/** The kinds of sources that have charts. */
export const chartSourceKinds = ["HelmRepository", "GitRepository", "Bucket"] as const;

/** The limit of a chart; Flux's definitions have no limit. */
export const maxValuesFiles = 100;

/** The fields that a HelmChart shares with its template in a HelmRelease. */
export const chartFields = {
  version: described(
    z.string().default("*"),
    "The version, or a constraint. No effect for a GitRepository or a Bucket.",
  ),
  reconcileStrategy: described(
    z.enum(["ChartVersion", "Revision"]).default("ChartVersion"),
    "What is a new artifact: another version of the chart, or any new revision of the source.",
  ),
  valuesFiles: strings(
    "Files that are merged to the default values, the last one wins: paths in the GitRepository or Bucket, or in the chart of a HelmRepository.",
    { absent: "`values.yaml` of the chart", maxItems: maxValuesFiles },
  ),
  ignoreMissingValuesFiles: flag("Values files that are missing are no error."),
} as const;

const helmChartSpecSchema = fields({
  chart: described(
    z.string(),
    "The name of the chart in a HelmRepository, or its path in a GitRepository or Bucket.",
  ),
  version: chartFields.version,
  sourceRef: described(
    fields({
      apiVersion: plainText("The source's apiVersion."),
      kind: described(z.enum(chartSourceKinds), "The source's kind."),
      name: described(z.string(), "The source's name."),
    }),
    "The source, of the same namespace.",
  ),
  interval: described(duration, "How often the source is requested."),
  reconcileStrategy: chartFields.reconcileStrategy,
  valuesFiles: chartFields.valuesFiles,
  ignoreMissingValuesFiles: chartFields.ignoreMissingValuesFiles,
  verify: chartVerification,
  suspend,
}).meta({
  "x-kubernetes-validations": [
    {
      rule: "!has(self.verify) || self.sourceRef.kind == 'HelmRepository'",
      message: "verify is for charts of a HelmRepository only: remove it",
    },
  ],
});

const helmChartStatusSchema = fields({
  ...sourceStatusFields,
  observedChartName: plainText("The name of the chart."),
  observedSourceArtifactRevision: plainText("The revision of the source."),
  observedValuesFiles: strings(
    "The values files that were found, with `ignoreMissingValuesFiles`.",
  ),
});

export type HelmChartSpec = Typed<typeof helmChartSpecSchema>;
export type HelmChartStatus = Typed<typeof helmChartStatusSchema>;

/** Without a spec where a user wrote none: Flux's schema does not require one. */
export interface HelmChart extends KubeObject {
  readonly spec?: HelmChartSpec;
  readonly status?: HelmChartStatus;
}

export const helmChartSchemas = {
  spec: helmChartSpecSchema,
  status: helmChartStatusSchema,
} as const;
