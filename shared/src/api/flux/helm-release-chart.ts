/** Where the chart of a HelmRelease comes from: the template of a HelmChart, or a reference. */
import * as z from "zod";
import { described, fields, plainText } from "../fleet/index.ts";
import { duration, namespaceName, objectName, string, stringMap } from "./field.ts";
import { chartFields, chartSourceKinds } from "./helm-chart.ts";
import { templateVerification } from "./verify.ts";

const chartTemplateSpecSchema = fields({
  chart: described(
    string({ min: 1, max: 2048 }),
    "The name of the chart in a HelmRepository, or its path in a GitRepository or Bucket.",
  ),
  version: chartFields.version,
  sourceRef: described(
    fields({
      apiVersion: plainText("The source's apiVersion."),
      kind: described(z.enum(chartSourceKinds), "The source's kind."),
      name: described(objectName, "The source's name."),
      namespace: described(namespaceName.optional(), "The source's namespace.", {
        "x-default-text": "the HelmRelease's",
      }),
    }),
    "The source.",
  ),
  interval: described(duration.optional(), "How often the source is requested.", {
    "x-default-text": "`spec.interval`",
  }),
  reconcileStrategy: chartFields.reconcileStrategy,
  valuesFiles: chartFields.valuesFiles,
  ignoreMissingValuesFiles: chartFields.ignoreMissingValuesFiles,
  verify: templateVerification,
});

export const chartTemplateSchema = fields(
  {
    metadata: described(
      fields({
        labels: stringMap("Labels of the HelmChart."),
        annotations: stringMap("Annotations of the HelmChart."),
      }).optional(),
      "Metadata of the HelmChart.",
    ),
    spec: described(chartTemplateSpecSchema, "The spec of the HelmChart."),
  },
  "HelmChartTemplate",
);

export const chartRefSchema = fields({
  apiVersion: plainText("The source's apiVersion."),
  kind: described(
    z.enum(["OCIRepository", "HelmChart", "ExternalArtifact"]),
    "The source's kind. An ExternalArtifact is not supported.",
  ),
  name: described(objectName, "The source's name."),
  namespace: described(namespaceName.optional(), "The source's namespace.", {
    "x-default-text": "the HelmRelease's",
  }),
});
