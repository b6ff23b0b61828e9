/** Specs of Flux's sources and HelmCharts that Flux accepts and that it rejects. */
import { cases, type FluxCase, ref } from "./flux-case.ts";

export const sourceCases: readonly FluxCase[] = [
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
