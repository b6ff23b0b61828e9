/** What `kubectl get` shows of Flux's kinds, and what the API server writes into new objects. */

export interface ShownKind {
  readonly resource: string;
  readonly shortName?: string;
  readonly apiVersion: string;
  readonly kind: string;
  /** The least that is accepted. */
  readonly spec: Readonly<Record<string, unknown>>;
  /** Fields of `spec` that the API server adds. */
  readonly defaults: Readonly<Record<string, unknown>>;
  readonly hasStatus: boolean;
  readonly header: RegExp;
  /** What is printed for an object with this spec that is ready, with the message `fetched`. */
  readonly row: RegExp;
}

const source = "source.toolkit.fluxcd.io/v1";
const tail = "\\s+\\S+\\s+True\\s+fetched";

export const shownKinds: readonly ShownKind[] = [
  {
    resource: "helmreleases",
    shortName: "hr",
    apiVersion: "helm.toolkit.fluxcd.io/v2",
    kind: "HelmRelease",
    spec: { interval: "10m", chartRef: { kind: "HelmChart", name: "web" } },
    defaults: {},
    hasStatus: true,
    header: /^NAME\s+AGE\s+READY\s+STATUS$/,
    row: new RegExp(`^shown${tail}$`),
  },
  {
    resource: "helmcharts",
    shortName: "hc",
    apiVersion: source,
    kind: "HelmChart",
    spec: { interval: "10m", chart: "web", sourceRef: { kind: "HelmRepository", name: "stable" } },
    defaults: { version: "*", reconcileStrategy: "ChartVersion" },
    hasStatus: true,
    header: /^NAME\s+CHART\s+VERSION\s+SOURCE KIND\s+SOURCE NAME\s+AGE\s+READY\s+STATUS$/,
    row: new RegExp(`^shown\\s+web\\s+\\*\\s+HelmRepository\\s+stable${tail}$`),
  },
  {
    resource: "helmrepositories",
    shortName: "helmrepo",
    apiVersion: source,
    kind: "HelmRepository",
    spec: { url: "https://charts.example.org" },
    defaults: { provider: "generic" },
    hasStatus: true,
    header: /^NAME\s+URL\s+AGE\s+READY\s+STATUS$/,
    row: new RegExp(`^shown\\s+https://charts\\.example\\.org${tail}$`),
  },
  {
    resource: "ocirepositories",
    shortName: "ocirepo",
    apiVersion: source,
    kind: "OCIRepository",
    spec: { interval: "1m", url: "oci://registry.example.org/web" },
    defaults: { provider: "generic", timeout: "60s" },
    hasStatus: true,
    header: /^NAME\s+URL\s+READY\s+STATUS\s+AGE$/,
    row: /^shown\s+oci:\/\/registry\.example\.org\/web\s+True\s+fetched\s+\S+$/,
  },
  {
    resource: "gitrepositories",
    shortName: "gitrepo",
    apiVersion: source,
    kind: "GitRepository",
    spec: { interval: "1m", url: "https://git.example.org/web" },
    defaults: { timeout: "60s" },
    hasStatus: true,
    header: /^NAME\s+URL\s+AGE\s+READY\s+STATUS$/,
    row: new RegExp(`^shown\\s+https://git\\.example\\.org/web${tail}$`),
  },
  {
    resource: "buckets",
    apiVersion: source,
    kind: "Bucket",
    spec: { interval: "1m", endpoint: "storage.example.org", bucketName: "web" },
    defaults: { provider: "generic", timeout: "60s" },
    hasStatus: true,
    header: /^NAME\s+ENDPOINT\s+AGE\s+READY\s+STATUS$/,
    row: new RegExp(`^shown\\s+storage\\.example\\.org${tail}$`),
  },
  {
    resource: "alerts",
    apiVersion: "notification.toolkit.fluxcd.io/v1beta3",
    kind: "Alert",
    spec: { providerRef: { name: "chat" }, eventSources: [{ kind: "HelmRelease", name: "*" }] },
    defaults: { eventSeverity: "info" },
    hasStatus: false,
    header: /^NAME\s+AGE$/,
    row: /^shown\s+\S+$/,
  },
  {
    resource: "providers",
    apiVersion: "notification.toolkit.fluxcd.io/v1beta3",
    kind: "Provider",
    spec: { type: "generic" },
    defaults: {},
    hasStatus: false,
    header: /^NAME\s+AGE$/,
    row: /^shown\s+\S+$/,
  },
  {
    resource: "receivers",
    apiVersion: "notification.toolkit.fluxcd.io/v1",
    kind: "Receiver",
    spec: {
      type: "generic",
      secretRef: { name: "token" },
      resources: [{ kind: "HelmRepository", name: "stable" }],
    },
    defaults: { interval: "10m" },
    hasStatus: true,
    header: /^NAME\s+AGE\s+READY\s+STATUS$/,
    row: new RegExp(`^shown${tail}$`),
  },
];
