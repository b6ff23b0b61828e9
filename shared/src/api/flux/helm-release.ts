/** Flux's HelmRelease: a chart, its values, and how it is installed. Written by users. */
import * as z from "zod";
import type { KubeObject } from "../../kubernetes/objects/index.ts";
import {
  described,
  fields,
  rolloutStrategySchema,
  type Typed,
  targetsSchema,
} from "../fleet/index.ts";
import { duration, flag, namespaceName, number, objectName, string, suspend } from "./field.ts";
import {
  installSchema,
  rollbackSchema,
  testSchema,
  uninstallSchema,
  upgradeSchema,
} from "./helm-release-actions.ts";
import { chartRefSchema, chartTemplateSchema } from "./helm-release-chart.ts";
import {
  commonMetadataSchema,
  dependsOnSchema,
  driftDetectionSchema,
  healthCheckExprsSchema,
  kubeConfigSchema,
  postRenderersSchema,
  valuesFromSchema,
  waitStrategySchema,
} from "./helm-release-options.ts";
import { type HelmReleaseStatus, helmReleaseStatusSchema } from "./helm-release-status.ts";

const helmReleaseSpecSchema = fields({
  chart: described(
    chartTemplateSchema.optional(),
    "The chart of a source: a HelmChart is generated from it.",
  ),
  chartRef: described(chartRefSchema.optional(), "A source that is a chart."),
  interval: described(duration, "How often the release is compared with what is desired."),
  suspend,
  targets: described(
    targetsSchema,
    "The clusters to install it in, as in a HelmOp. Flux has no such field.",
    { "x-default-text": "the cluster of the hub" },
  ),
  rolloutStrategy: described(
    rolloutStrategySchema.optional(),
    "The steps in which a change is rolled out to the clusters of `targets`, as in a HelmOp. Flux has no such field: with Flux's own definitions, which drop it, the annotation `flotilla.dev/rollout-policy` names a RolloutPolicy.",
  ),
  kubeConfig: described(kubeConfigSchema.optional(), "Another cluster than the hub's."),
  serviceAccountName: described(
    objectName.optional(),
    "The ServiceAccount to install it as, of the HelmRelease's namespace in the cluster.",
  ),
  releaseName: described(string({ min: 1, max: 53 }).optional(), "The name of the release.", {
    "x-default-text": "`[<targetNamespace>-]<name>`, shortened",
  }),
  targetNamespace: described(namespaceName.optional(), "The namespace of the release.", {
    "x-default-text": "the HelmRelease's",
  }),
  storageNamespace: described(
    namespaceName.optional(),
    "The namespace of the release's records. Helm keeps them in the namespace of the release, so any other is rejected.",
    { "x-default-text": "the namespace of the release" },
  ),
  values: described(z.unknown().optional(), "Values, which win over the ones from `valuesFrom`."),
  valuesFrom: described(
    valuesFromSchema.optional(),
    "ConfigMaps and Secrets of the namespace with values; the last one wins.",
  ),
  dependsOn: described(
    dependsOnSchema.optional(),
    "HelmReleases that must be ready before this one.",
  ),
  timeout: described(
    duration.optional(),
    "How long Helm may take for an action that has no timeout of its own.",
    { "x-default-text": "`5m`" },
  ),
  maxHistory: number("The number of revisions that Helm keeps; `0` keeps all.", "`5`"),
  persistentClient: flag("No effect: each run of Helm has a client of its own.", "`true`"),
  install: described(installSchema.optional(), "Options for the installation."),
  upgrade: described(upgradeSchema.optional(), "Options for upgrades."),
  test: described(testSchema.optional(), "The chart's tests (`helm test`)."),
  rollback: described(rollbackSchema.optional(), "Options for rollbacks of failed upgrades."),
  uninstall: described(uninstallSchema.optional(), "Options for the removal."),
  driftDetection: described(
    driftDetectionSchema.optional(),
    "Detection of changes that others make to the objects of the release.",
  ),
  postRenderers: described(
    postRenderersSchema.optional(),
    "Changes of the objects that the chart renders, one after the other.",
  ),
  commonMetadata: described(
    commonMetadataSchema.optional(),
    "Labels and annotations of all objects, after all `postRenderers`.",
  ),
  waitStrategy: described(waitStrategySchema.optional(), "How readiness is determined.", {
    "x-default-text": "`poller`",
  }),
  healthCheckExprs: described(
    healthCheckExprsSchema.optional(),
    "Expressions that determine the readiness of custom resources.",
  ),
}).meta({
  "x-kubernetes-validations": [
    {
      rule: "(has(self.chart) && !has(self.chartRef)) || (!has(self.chart) && has(self.chartRef))",
      message: "a HelmRelease has one chart: set exactly one of chart and chartRef",
    },
  ],
});

export type HelmReleaseSpec = Typed<typeof helmReleaseSpecSchema>;

/** Without a spec where a user wrote none: Flux's schema does not require one. */
export interface HelmRelease extends KubeObject {
  readonly spec?: HelmReleaseSpec;
  readonly status?: HelmReleaseStatus;
}

export const helmReleaseSchemas = {
  spec: helmReleaseSpecSchema,
  status: helmReleaseStatusSchema,
} as const;
