/** Specs of Flux's kinds that Flux accepts and that it rejects: fields that are set in the least spec of the kind, or removed. */

export interface FluxCase {
  readonly kind: string;
  readonly what: string;
  /** Set in the least spec; undefined removes a field. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Absent: it is accepted. */
  readonly rejected?: RegExp;
}

const ref = { name: "some" };
const long = (length: number): string => "x".repeat(length);

/** A HelmRelease with a template of a chart. */
const template = (fields: Readonly<Record<string, unknown>>) => ({
  chartRef: undefined,
  chart: { spec: { chart: "web", sourceRef: { kind: "GitRepository", name: "apps" }, ...fields } },
});

const helmReleaseCases: readonly FluxCase[] = cases("HelmRelease", [
  ["all durations in hours", { interval: "1h30m", timeout: "1.5h", install: { timeout: "2h" } }],
  ["values that are no object", { values: ["a", 1] }],
  ["values that are null", { values: null }],
  ["unlimited history and retries", { maxHistory: -1, install: { remediation: { retries: -1 } } }],
  ["an ExternalArtifact", { chartRef: { kind: "ExternalArtifact", name: "built" } }],
  ["the deprecated skipCRDs", { install: { skipCRDs: true } }],
  [
    "many post-renderers",
    { postRenderers: Array.from({ length: 100 }, () => ({ kustomize: {} })) },
  ],
  [
    "a path with indexes",
    { valuesFrom: [{ kind: "Secret", name: "s", targetPath: "a\\.b[10].c" }] },
  ],
  ["a template", template({ valuesFiles: ["a.yaml"], verify: {}, interval: "1h" })],
  ["a ConfigMap for another cluster", { kubeConfig: { configMapRef: ref } }],
  ["a retry strategy", { install: { strategy: { name: "RetryOnFailure", retryInterval: "1h" } } }],
  ["targets", { targets: [{ clusterSelector: {}, helm: { values: { a: 1 } } }] }],
  ["no interval", { interval: undefined }, /spec\.interval: Required value/],
  ["an interval in days", { interval: "1d" }, /spec\.interval: Invalid value: "1d"/],
  ["an interval without a unit", { interval: "30" }, /spec\.interval: Invalid value/],
  ["neither chart nor chartRef", { chartRef: undefined }, /set exactly one of chart and chartRef/],
  [
    "both chart and chartRef",
    { ...template({}), chartRef: { kind: "HelmChart", name: "web" } },
    /set exactly one of chart and chartRef/,
  ],
  ["a chart without a name", template({ chart: "" }), /spec\.chart\.spec\.chart: Invalid value/],
  ["a chart with a long name", template({ chart: long(2049) }), /may not be more than 2048/],
  ["a template without a source", template({ sourceRef: undefined }), /sourceRef: Required value/],
  [
    "a source of an unknown kind",
    template({ sourceRef: { kind: "OCIRepository", name: "a" } }),
    /sourceRef\.kind: Unsupported value: "OCIRepository"/,
  ],
  ["a source without a kind", template({ sourceRef: ref }), /sourceRef\.kind: Required value/],
  [
    "a source of a namespace with a long name",
    template({ sourceRef: { kind: "Bucket", name: "a", namespace: long(64) } }),
    /sourceRef\.namespace: .*63/,
  ],
  [
    "an unknown strategy",
    template({ reconcileStrategy: "Never" }),
    /reconcileStrategy: Unsupported/,
  ],
  ["an unknown verification", template({ verify: { provider: "gpg" } }), /provider: Unsupported/],
  [
    "a reference to an unknown kind",
    { chartRef: { kind: "HelmRepository", name: "a" } },
    /chartRef\.kind: Unsupported value/,
  ],
  ["a reference without a name", { chartRef: { kind: "HelmChart" } }, /chartRef\.name: Required/],
  ["a long release name", { releaseName: long(54) }, /spec\.releaseName: .*53/],
  ["an empty release name", { releaseName: "" }, /spec\.releaseName: .*at least 1/],
  ["a long target namespace", { targetNamespace: long(64) }, /spec\.targetNamespace: .*63/],
  ["an empty storage namespace", { storageNamespace: "" }, /spec\.storageNamespace: .*at least 1/],
  ["a long account name", { serviceAccountName: long(254) }, /spec\.serviceAccountName: .*253/],
  [
    "another cluster without a way",
    { kubeConfig: {} },
    /exactly one of secretRef and configMapRef/,
  ],
  [
    "another cluster in two ways",
    { kubeConfig: { secretRef: ref, configMapRef: ref } },
    /exactly one of secretRef and configMapRef/,
  ],
  ["a kubeconfig without a name", { kubeConfig: { secretRef: {} } }, /secretRef\.name: Required/],
  [
    "an interval for another strategy",
    { install: { strategy: { name: "RemediateOnFailure", retryInterval: "1m" } } },
    /spec\.install\.strategy: .*'RetryOnFailure' only/,
  ],
  [
    "the same for upgrades",
    { upgrade: { strategy: { name: "RemediateOnFailure", retryInterval: "1m" } } },
    /spec\.upgrade\.strategy: .*'RetryOnFailure' only/,
  ],
  ["a strategy without a name", { upgrade: { strategy: {} } }, /strategy\.name: Required value/],
  [
    "an unknown strategy of remediation",
    { upgrade: { remediation: { strategy: "wait" } } },
    /Unsupp/,
  ],
  [
    "a text for server-side apply",
    { install: { serverSideApply: "enabled" } },
    /must be .*boolean/,
  ],
  ["a Boolean for it in upgrades", { upgrade: { serverSideApply: true } }, /must be .*string/],
  ["an unknown policy for CRDs", { install: { crds: "Replace" } }, /install\.crds: Unsupported/],
  ["an unknown propagation", { uninstall: { deletionPropagation: "now" } }, /Unsupported value/],
  [
    "a change of name that is unknown",
    { upgrade: { chartNameChangeStrategy: "x" } },
    /Unsupported/,
  ],
  [
    "a filter without a name",
    { test: { filters: [{ exclude: true }] } },
    /filters\[0\]\.name: Req/,
  ],
  ["an unknown mode of drift", { driftDetection: { mode: "on" } }, /mode: Unsupported value/],
  ["a rule without paths", { driftDetection: { ignore: [{}] } }, /ignore\[0\]\.paths: Required/],
  ["a dependency without a name", { dependsOn: [{}] }, /dependsOn\[0\]\.name: Required value/],
  ["values of an unknown kind", { valuesFrom: [{ kind: "Pod", name: "a" }] }, /kind: Unsupported/],
  ["values without a name", { valuesFrom: [{ kind: "Secret" }] }, /name: Required value/],
  [
    "a key with a slash",
    { valuesFrom: [{ kind: "Secret", name: "a", valuesKey: "a/b" }] },
    /valuesKey: Invalid value: "a\/b"/,
  ],
  [
    "a path with a wrong index",
    { valuesFrom: [{ kind: "Secret", name: "a", targetPath: "a[123456]" }] },
    /targetPath: Invalid value/,
  ],
  [
    "a long path",
    { valuesFrom: [{ kind: "Secret", name: "a", targetPath: long(251) }] },
    /targetPath: .*250/,
  ],
  ["a patch without a patch", { postRenderers: [{ kustomize: { patches: [{}] } }] }, /patch: Requ/],
  ["an image without a name", { postRenderers: [{ kustomize: { images: [{}] } }] }, /name: Requ/],
  [
    "an unknown way to wait",
    { waitStrategy: { name: "sleep" } },
    /waitStrategy\.name: Unsupported/,
  ],
  [
    "a check without an expression",
    { healthCheckExprs: [{ apiVersion: "v1" }] },
    /current: Requir/,
  ],
]);

const sourceCases: readonly FluxCase[] = [
  ...cases("HelmRepository", [
    ["an OCI registry", { url: "oci://r.example.org/charts", type: "oci", provider: "aws" }],
    ["an interval in hours", { interval: "24h", timeout: "90s", insecure: true }],
    ["access of other namespaces", { accessFrom: { namespaceSelectors: [{ matchLabels: {} }] } }],
    ["no address", { url: undefined }, /spec\.url: Required value/],
    ["another protocol", { url: "ftp://charts.example.org" }, /spec\.url: Invalid value/],
    ["a timeout in hours", { timeout: "1h" }, /spec\.timeout: Invalid value: "1h"/],
    ["an unknown type", { type: "git" }, /spec\.type: Unsupported value: "git"/],
    ["an unknown provider", { provider: "github" }, /spec\.provider: Unsupported value/],
    ["a Secret without a name", { secretRef: {} }, /spec\.secretRef\.name: Required value/],
    ["no selectors", { accessFrom: {} }, /namespaceSelectors: Required value/],
  ]),
  ...cases("OCIRepository", [
    [
      "every reference",
      { ref: { tag: "1", semver: "1.x", semverFilter: ".*", digest: "sha256:0" } },
    ],
    ["a layer", { layerSelector: { mediaType: "text/plain", operation: "copy" } }],
    [
      "keyless verification",
      { verify: { provider: "cosign", matchOIDCIdentity: [{ issuer: "a", subject: "b" }] } },
    ],
    ["notation", { verify: { provider: "notation", secretRef: ref, trustedRootSecretRef: ref } }],
    ["no interval", { interval: undefined }, /spec\.interval: Required value/],
    ["an HTTP address", { url: "https://r.example.org/web" }, /spec\.url: Invalid value/],
    ["a timeout in hours", { timeout: "1h" }, /spec\.timeout: Invalid value: "1h"/],
    ["an unknown provider", { provider: "quay" }, /spec\.provider: Unsupported value/],
    ["an unknown operation", { layerSelector: { operation: "move" } }, /operation: Unsupported/],
    [
      "an identity without a subject",
      { verify: { matchOIDCIdentity: [{ issuer: "a" }] } },
      /subject: R/,
    ],
  ]),
  ...cases("GitRepository", [
    ["an account for Azure", { provider: "azure", serviceAccountName: "git" }],
    ["an account for AWS", { provider: "aws", serviceAccountName: "git" }],
    ["a commit of a branch", { ref: { branch: "main", commit: "0123", name: "refs/heads/x" } }],
    ["the old name of a mode", { verify: { mode: "head", secretRef: ref } }],
    ["submodules and parts", { recurseSubmodules: true, sparseCheckout: ["a"], ignore: "/*" }],
    ["an included repository", { include: [{ repository: ref, fromPath: "a", toPath: "b" }] }],
    ["no address", { url: undefined }, /spec\.url: Required value/],
    ["an address as of scp", { url: "git@git.example.org:web" }, /spec\.url: Invalid value/],
    ["a timeout in hours", { timeout: "1h" }, /spec\.timeout: Invalid value: "1h"/],
    ["an account without a provider", { serviceAccountName: "git" }, /'azure' and 'aws' only/],
    [
      "an account for GitHub",
      { provider: "github", serviceAccountName: "git" },
      /'azure' and 'aws' only/,
    ],
    ["an unknown provider", { provider: "gitlab" }, /spec\.provider: Unsupported value/],
    ["verification without keys", { verify: { mode: "HEAD" } }, /verify\.secretRef: Required/],
    ["an unknown mode", { verify: { mode: "tag", secretRef: ref } }, /verify\.mode: Unsupported/],
    ["an include without a repository", { include: [{}] }, /include\[0\]\.repository: Required/],
  ]),
  ...cases("Bucket", [
    [
      "a generic one with LDAP",
      { sts: { provider: "ldap", endpoint: "https://s", secretRef: ref } },
    ],
    ["AWS with its tokens", { provider: "aws", sts: { provider: "aws", endpoint: "https://s" } }],
    ["an account for GCP", { provider: "gcp", serviceAccountName: "storage" }],
    ["no bucket", { bucketName: undefined }, /spec\.bucketName: Required value/],
    ["no endpoint", { endpoint: undefined }, /spec\.endpoint: Required value/],
    ["a timeout in hours", { timeout: "1h" }, /spec\.timeout: Invalid value: "1h"/],
    ["an unknown provider", { provider: "minio" }, /spec\.provider: Unsupported value/],
    [
      "tokens for Azure",
      { provider: "azure", sts: { provider: "ldap", endpoint: "https://s" } },
      /sts is for the providers 'aws' and 'generic' only/,
    ],
    [
      "LDAP for AWS",
      { provider: "aws", sts: { provider: "ldap", endpoint: "https://s" } },
      /'aws' has only the sts provider 'aws'/,
    ],
    [
      "AWS tokens for a generic one",
      { sts: { provider: "aws", endpoint: "https://s" } },
      /'generic' has only the sts provider 'ldap'/,
    ],
    [
      "AWS tokens with a Secret",
      { provider: "aws", sts: { provider: "aws", endpoint: "https://s", secretRef: ref } },
      /sts\.secretRef is for the sts provider 'ldap' only/,
    ],
    [
      "AWS tokens with certificates",
      { provider: "aws", sts: { provider: "aws", endpoint: "https://s", certSecretRef: ref } },
      /sts\.certSecretRef is for the sts provider 'ldap' only/,
    ],
    [
      "an endpoint without a protocol",
      { sts: { provider: "ldap", endpoint: "s" } },
      /sts\.endpoint: I/,
    ],
    [
      "an account for a generic one",
      { serviceAccountName: "a" },
      /'generic' has no serviceAccountName/,
    ],
    [
      "a Secret and an account",
      { provider: "gcp", secretRef: ref, serviceAccountName: "a" },
      /exclude each other/,
    ],
  ]),
  ...cases("HelmChart", [
    ["verification of a repository", { verify: { secretRef: ref } }],
    ["values files", { valuesFiles: ["a", "b"], ignoreMissingValuesFiles: true, version: "1.x" }],
    ["no chart", { chart: undefined }, /spec\.chart: Required value/],
    ["no interval", { interval: undefined }, /spec\.interval: Required value/],
    [
      "verification of a bucket",
      { sourceRef: { kind: "Bucket", name: "a" }, verify: {} },
      /verify is for charts of a HelmRepository only/,
    ],
    ["an unknown source", { sourceRef: { kind: "OCIRepository", name: "a" } }, /kind: Unsupported/],
    [
      "an unknown strategy",
      { reconcileStrategy: "Digest" },
      /reconcileStrategy: Unsupported value/,
    ],
  ]),
];

const notificationCases: readonly FluxCase[] = [
  ...cases("Alert", [
    ["labels and lists", { inclusionList: ["("], exclusionList: ["a"], eventMetadata: { a: "b" } }],
    [
      "sources of every kind",
      {
        eventSources: [
          "Kustomization",
          "ImagePolicy",
          "ArtifactGenerator",
          "HelmOp",
          "Cluster",
        ].map((kind) => ({ kind, name: "a", namespace: "b", apiVersion: "c", matchLabels: {} })),
      },
    ],
    ["no sources", { eventSources: [] }],
    ["no Provider", { providerRef: undefined }, /spec\.providerRef: Required value/],
    ["an unknown severity", { eventSeverity: "debug" }, /spec\.eventSeverity: Unsupported value/],
    ["an unknown kind", { eventSources: [{ kind: "Pod", name: "*" }] }, /kind: Unsupported value/],
    ["no name", { eventSources: [{ kind: "Bucket", name: "" }] }, /name: .*at least 1/],
    ["a long summary", { summary: long(256) }, /spec\.summary: .*255/],
  ]),
  ...cases("Provider", [
    ["a status of commits", { type: "gitea", commitStatusExpr: "'a'" }],
    [
      "every text",
      { address: "a", channel: "b", username: "c", proxy: "http://p", interval: "1h" },
    ],
    ["each Secret", { secretRef: ref, certSecretRef: ref, proxySecretRef: ref, suspend: true }],
    ["a type that is not supported here", { type: "otel" }],
    ["no type", { type: undefined }, /spec\.type: Required value/],
    ["an unknown type", { type: "irc" }, /spec\.type: Unsupported value: "irc"/],
    ["a timeout in hours", { timeout: "1h" }, /spec\.timeout: Invalid value: "1h"/],
    ["a long address", { address: long(2049) }, /spec\.address: .*2048/],
    ["a proxy without a protocol", { proxy: "p" }, /spec\.proxy: Invalid value/],
    [
      "an expression for a chat",
      { type: "slack", commitStatusExpr: "'a'" },
      /commitStatusExpr is for the types 'github'/,
    ],
  ]),
  ...cases("Receiver", [
    ["events and filters", { events: ["push"], resourceFilter: "true" }],
    [
      "tokens of an issuer",
      { type: "generic-oidc", secretRef: undefined, oidcProviders: [oidc("https://a")] },
    ],
    ["no resources", { resources: undefined }, /spec\.resources: Required value/],
    ["an unknown type", { type: "svn" }, /spec\.type: Unsupported value: "svn"/],
    ["no Secret", { secretRef: undefined }, /secretRef is missing/],
    [
      "tokens without an issuer",
      { type: "generic-oidc", secretRef: undefined },
      /needs oidcProviders/,
    ],
    [
      "tokens with a Secret",
      { type: "generic-oidc", oidcProviders: [oidc("https://a")] },
      /'generic-oidc' has no secretRef/,
    ],
    [
      "issuers for GitHub",
      { type: "github", oidcProviders: [oidc("https://a")] },
      /only: remove it/,
    ],
    [
      "an issuer twice",
      {
        type: "generic-oidc",
        secretRef: undefined,
        oidcProviders: [oidc("https://a"), oidc("https://a")],
      },
      /oidcProviders\[1\]: Duplicate value/,
    ],
    [
      "an issuer without a protocol",
      { type: "generic-oidc", secretRef: undefined, oidcProviders: [oidc("a")] },
      /issuerURL: Invalid value/,
    ],
    [
      "an issuer without validations",
      {
        type: "generic-oidc",
        secretRef: undefined,
        oidcProviders: [{ issuerURL: "https://a", validations: [] }],
      },
      /validations: .*at least 1/,
    ],
    ["an interval in days", { interval: "1d" }, /spec\.interval: Invalid value: "1d"/],
  ]),
];

export const fluxCases: readonly FluxCase[] = [
  ...helmReleaseCases,
  ...sourceCases,
  ...notificationCases,
];

type Row = readonly [what: string, fields: Readonly<Record<string, unknown>>, rejected?: RegExp];

function cases(kind: string, rows: readonly Row[]): readonly FluxCase[] {
  return rows.map(([what, fields, rejected]) => ({
    kind,
    what,
    fields,
    ...(rejected !== undefined && { rejected }),
  }));
}

function oidc(issuerURL: string) {
  return {
    issuerURL,
    variables: [{ name: "a", expression: "claims.a" }],
    validations: [{ expression: "vars.a == 'b'", message: "a is not b" }],
  };
}
