/** Objects that the API server rejects, and its messages. */

export interface Rejection {
  readonly what: string;
  readonly spec: object;
  readonly message: RegExp;
}

const repo = "oci://registry.example.org/charts/web";

export const helmOpRejections: readonly Rejection[] = [
  {
    what: "a timeout in days",
    spec: { helm: { repo }, timeout: "1d" },
    message: /spec\.timeout: Invalid value: "1d": .*should match/,
  },
  {
    what: "a timeout without a unit, in a target",
    spec: { helm: { repo }, targets: [{ upgrade: { timeout: "30" } }] },
    message: /spec\.targets\[0\]\.upgrade\.timeout: Invalid value: "30": .*should match/,
  },
  {
    what: "an unknown way to apply",
    spec: { helm: { repo }, upgrade: { serverSideApply: "always" } },
    message: /spec\.upgrade\.serverSideApply: .*supported values: "enabled", "disabled", "auto"/,
  },
  {
    what: "a tarball with a repo",
    spec: {
      helm: {
        chart: "https://charts.example.org/web-1.0.0.TGZ",
        repo: "https://charts.example.org",
      },
    },
    message: /spec\.helm: .*tarball chart with a non-empty repo field: .*leave repo empty/,
  },
  {
    what: "a tarball with a version",
    spec: { helm: { chart: "https://charts.example.org/web-1.0.0.tgz", version: "1.0.0" } },
    message: /spec\.helm: .*tarball chart with a non-empty version field: .*leave version empty/,
  },
  {
    what: "an OCI repository with a chart",
    spec: { helm: { repo: "OCI://registry.example.org/charts", chart: "web" } },
    message: /spec\.helm: .*OCI repository with a non-empty chart field: leave chart empty/,
  },
  {
    what: "an HTTP repository without a chart",
    spec: { helm: { repo: "https://charts.example.org", version: "1.x" } },
    message: /spec\.helm: .*non-OCI repository with an empty chart field: name a chart/,
  },
  {
    what: "a chart without a repository",
    spec: { helm: { chart: "web" } },
    message:
      /spec\.helm: .*non-tarball chart with an empty repo field: name the repository in repo/,
  },
  {
    what: "an OCI address for a chart",
    spec: { helm: { chart: repo } },
    message: /spec\.helm: .*non-tarball chart with an empty repo field/,
  },
  {
    what: "a release name with capitals",
    spec: { helm: { repo, releaseName: "Web_1" } },
    message: /spec\.helm\.releaseName: .*"Web_1": must be lower-case letters, digits/,
  },
  {
    what: "a release name that is too long",
    spec: { helm: { repo, releaseName: "w".repeat(54) } },
    message: /spec\.helm\.releaseName: Too long: may not be more than 53/,
  },
  {
    what: "a target with a release name in capitals",
    spec: { helm: { repo }, targets: [{ helm: { releaseName: "Web" } }] },
    message: /spec\.targets\[0\]\.helm\.releaseName/,
  },
  {
    what: "an interval longer than a duration of Go",
    spec: { helm: { repo }, pollingInterval: "5000000h" },
    message:
      /spec\.pollingInterval: .*"5000000h": must be a valid Go duration, .* at most 2562047h/,
  },
  {
    what: "an interval that is too long in several units",
    spec: { helm: { repo }, pollingInterval: "2562047h60m" },
    message: /spec\.pollingInterval: .*must be a valid Go duration, .* at most 2562047h/,
  },
  {
    what: "an interval in days",
    spec: { helm: { repo }, pollingInterval: "1d" },
    message:
      /spec\.pollingInterval: .*"1d": must be a valid Go duration, with the units .*days and weeks have no unit/,
  },
  {
    what: "an interval without a unit",
    spec: { helm: { repo }, pollingInterval: "30" },
    message: /spec\.pollingInterval: .*must be a valid Go duration/,
  },
  {
    what: "an empty interval",
    spec: { helm: { repo }, pollingInterval: "" },
    message: /spec\.pollingInterval: .*must be a valid Go duration/,
  },
  {
    what: "a negative interval",
    spec: { helm: { repo }, pollingInterval: "-5m" },
    message: /spec\.pollingInterval: .*must be a valid Go duration/,
  },
  {
    what: "an interval of more hours than a duration holds",
    spec: { helm: { repo }, pollingInterval: "9999999h" },
    message: /spec\.pollingInterval: .*must be a valid Go duration/,
  },
  {
    what: "a target for no patch",
    spec: {
      helm: { repo },
      postRenderers: [{ kustomize: { patches: [{ target: { kind: "Job" } }] } }],
    },
    message: /spec\.postRenderers\[0\]\.kustomize\.patches\[0\]\.patch: Required value/,
  },
  {
    what: "a tag without the name of its image, in a target",
    spec: {
      helm: { repo },
      targets: [{ postRenderers: [{ kustomize: { images: [{ newTag: "1" }] } }] }],
    },
    message: /spec\.targets\[0\]\.postRenderers\[0\]\.kustomize\.images\[0\]\.name: Required value/,
  },
  {
    what: "more than 32 post-renderers",
    spec: { helm: { repo }, postRenderers: Array.from({ length: 33 }, () => ({})) },
    message: /spec\.postRenderers: Too many: 33: must have at most 32 items/,
  },
  {
    what: "a number for a label",
    spec: { helm: { repo }, commonMetadata: { labels: { tier: 1 } } },
    message: /spec\.commonMetadata\.labels\.tier: .*must be of type string/,
  },
  {
    what: "an expression of more than 4 KiB",
    spec: {
      helm: { repo },
      healthCheckExprs: [{ apiVersion: "v1", current: `true${" ".repeat(4_093)}` }],
    },
    message: /spec\.healthCheckExprs\[0\]\.current: Too long/,
  },
  {
    what: "a health check without current",
    spec: { helm: { repo }, healthCheckExprs: [{ apiVersion: "v1", failed: "true" }] },
    message: /spec\.healthCheckExprs\[0\]\.current: Required value/,
  },
  {
    what: "a number for a version",
    spec: { helm: { repo, version: 1.2 } },
    message: /spec\.helm\.version: .*must be of type string/,
  },
];

export const tokenRejections: readonly Rejection[] = [
  {
    what: "a life in weeks",
    spec: { ttl: "2w" },
    message: /spec\.ttl: .*"2w": must be a valid Go duration, with the units/,
  },
  {
    what: "a label under a name that Kubernetes does not allow",
    spec: { labels: { "a b": "x" } },
    message: /spec\.labels: .*every name must be one that Kubernetes allows/,
  },
  {
    what: "a label with a value that Kubernetes does not allow",
    spec: { labels: { a: "-" } },
    message: /spec\.labels: .*every value must be one that Kubernetes allows/,
  },
  {
    what: "a label of the hub's own",
    spec: { labels: { "flotilla.dev/a": "x" } },
    message: /spec\.labels: .*labels of flotilla\.dev are the hub's own/,
  },
];

/** Accepted specs that are close to rejected ones. */
export const accepted: readonly (readonly [what: string, spec: object])[] = [
  ["an interval of 0", { helm: { repo }, pollingInterval: "0" }],
  ["neither a repo nor a chart", { helm: { repo: "", chart: "" } }],
  ["neither of them beside other options", { helm: { version: "1.x", values: { a: 1 } } }],
  ["an interval of null", { helm: { repo }, pollingInterval: null }],
  ["an interval with fractions", { helm: { repo }, pollingInterval: "1.5h30m" }],
  ["nulls beside what is set", { helm: { repo, chart: null, version: null, releaseName: null } }],
  [
    "nulls deep inside, where Fleet allows them",
    {
      helm: { repo, valuesFrom: [{ configMapKeyRef: { name: null, namespace: null, key: null } }] },
      diff: {
        comparePatches: [
          { apiVersion: null, kind: null, namespace: null, name: null, jsonPointers: null },
          { operations: [{ op: null, path: null, value: null }] },
        ],
      },
      dependsOn: [{ name: null, selector: null }],
      resources: [{ name: null, content: null, encoding: null }],
    },
  ],
  ["no spec.helm, which the hub speaks of", {}],
  ["a spec.helm of null", { helm: null }],
  [
    "a tarball whose address is in capitals",
    { helm: { chart: "HTTPS://CHARTS.EXAMPLE.ORG/WEB-1.TGZ" } },
  ],
];

/** Fields of a Policy, which are at its top level. */
export const policyRejections: readonly {
  readonly what: string;
  readonly fields: object;
  readonly message: RegExp;
}[] = [
  {
    what: "a text for a list",
    fields: { allowedServiceAccounts: "deployer" },
    message: /allowedServiceAccounts: .*must be of type array/,
  },
  {
    what: "a text for a switch",
    fields: { requireServiceAccount: "yes" },
    message: /requireServiceAccount: .*must be of type boolean/,
  },
];

/** With nulls and unknown fields, which are kept. */
export const policyFields = {
  requireServiceAccount: true,
  allowedServiceAccounts: null,
  allowNamespaceCreation: false,
  gitRepo: { defaultServiceAccount: "git", allowedRepoPatterns: ["https://.*"] },
  helmOp: {
    defaultServiceAccount: "deployer",
    defaultHelmSecretName: "login",
    allowedHelmSecretNames: ["login"],
    allowedHelmRepoPatterns: ["oci://registry\\.example\\.org/.*"],
    allowedChartPatterns: null,
    novel: { a: 1 },
  },
  novel: true,
};
