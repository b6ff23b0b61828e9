/** Flux's kinds with the parts of their CRDs that are not in the schemas, as Flux has them: short names, categories, columns. */
import { column, type KindDefinition, type PrinterColumn } from "../../fleet/crd/index.ts";
import {
  alertSchemas,
  alerts,
  bucketSchemas,
  buckets,
  gitRepositories,
  gitRepositorySchemas,
  helmChartSchemas,
  helmCharts,
  helmReleaseSchemas,
  helmReleases,
  helmRepositories,
  helmRepositorySchemas,
  ociRepositories,
  ociRepositorySchemas,
  providerSchemas,
  providers,
  receiverSchemas,
  receivers,
} from "../index.ts";

const age: PrinterColumn = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };
const ready = column("Ready", '.status.conditions[?(@.type=="Ready")].status');
const status = column("Status", '.status.conditions[?(@.type=="Ready")].message');
const url = column("URL", ".spec.url");

const common = {
  absentSpec: "accept",
  // Flux's own Kustomizations must not replace `${...}` in the descriptions.
  annotations: { "kustomize.toolkit.fluxcd.io/substitute": "disabled" },
} as const;

const withStatus = { ...common, statusDefault: { observedGeneration: -1 } } as const;
const source = { ...withStatus, categories: ["all", "fluxcd", "fluxcd-sources"] } as const;
const notification = { categories: ["all", "fluxcd", "fluxcd-notifications"] } as const;

export const fluxKinds: readonly KindDefinition[] = [
  {
    resource: helmReleases,
    description:
      "A HelmRelease installs a chart of a source, with its values, in the hub's cluster or in the clusters of its targets.",
    ...withStatus,
    ...helmReleaseSchemas,
    shortNames: ["hr"],
    categories: ["all", "fluxcd", "fluxcd-appliers"],
    columns: [age, ready, status],
  },
  {
    resource: helmCharts,
    description:
      "A HelmChart is a chart of a source, of which it follows the versions. The hub generates one for each HelmRelease with a `chart`.",
    ...source,
    ...helmChartSchemas,
    shortNames: ["hc"],
    columns: [
      column("Chart", ".spec.chart"),
      column("Version", ".spec.version"),
      column("Source Kind", ".spec.sourceRef.kind"),
      column("Source Name", ".spec.sourceRef.name"),
      age,
      ready,
      status,
    ],
  },
  {
    resource: helmRepositories,
    description: "A HelmRepository is a repository of charts, over HTTP or in a registry.",
    ...source,
    ...helmRepositorySchemas,
    shortNames: ["helmrepo"],
    columns: [url, age, ready, status],
  },
  {
    resource: ociRepositories,
    description: "An OCIRepository is a chart in a registry, by tag, version or digest.",
    ...source,
    ...ociRepositorySchemas,
    shortNames: ["ocirepo"],
    columns: [url, ready, status, age],
  },
  {
    resource: gitRepositories,
    description: "A GitRepository is a branch, tag or commit of a Git repository.",
    ...source,
    ...gitRepositorySchemas,
    shortNames: ["gitrepo"],
    columns: [url, age, ready, status],
  },
  {
    resource: buckets,
    description: "A Bucket is a bucket of an object storage, or the part of it with a prefix.",
    ...source,
    ...bucketSchemas,
    columns: [column("Endpoint", ".spec.endpoint"), age, ready, status],
  },
  {
    resource: alerts,
    description: "An Alert sends events of objects to a Provider.",
    ...common,
    ...notification,
    ...alertSchemas,
    columns: [age],
  },
  {
    resource: providers,
    description: "A Provider is where Alerts send events to.",
    ...common,
    ...notification,
    ...providerSchemas,
    columns: [age],
  },
  {
    resource: receivers,
    description: "A Receiver is a webhook that requests the reconciliation of objects.",
    ...withStatus,
    ...notification,
    ...receiverSchemas,
    columns: [age, ready, status],
  },
];
