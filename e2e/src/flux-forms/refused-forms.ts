/** The forms of Flux that are refused on purpose, and what their status says. */

export interface RefusedForm {
  readonly kind: "HelmRelease" | "OCIRepository" | "GitRepository" | "Bucket" | "Receiver";
  readonly name: string;
  /** The reason of Ready. */
  readonly reason: string;
  readonly message: RegExp;
}

export const refusedForms: readonly RefusedForm[] = [
  {
    ...{ kind: "HelmRelease", name: "other-kubeconfig", reason: "Invalid" },
    message: /names the Secret production.*CLUSTER-kubeconfig.*spec\.targets/,
  },
  {
    ...{ kind: "HelmRelease", name: "cloud-cluster", reason: "Invalid" },
    message: /names no Secret.*CLUSTER-kubeconfig.*spec\.targets/,
  },
  {
    ...{ kind: "HelmRelease", name: "stored-elsewhere", reason: "Invalid" },
    message: /spec\.storageNamespace is flux-forms.*remove storageNamespace/,
  },
  {
    ...{ kind: "HelmRelease", name: "external-artifact", reason: "Invalid" },
    message: /ExternalArtifact is not supported.*OCIRepository or a HelmChart/,
  },
  {
    ...{ kind: "HelmRelease", name: "legacy-wait", reason: "Invalid" },
    message: /spec\.waitStrategy legacy is not supported.*remove it/,
  },
  {
    ...{ kind: "HelmRelease", name: "keyless", reason: "SourceNotReady" },
    message: /keyless\) are not supported: use provider cosign with spec\.verify\.secretRef/,
  },
  {
    ...{ kind: "OCIRepository", name: "cloud-registry", reason: "AuthenticationFailed" },
    message: /spec\.provider aws of a OCIRepository is not supported: set spec\.secretRef/,
  },
  {
    ...{ kind: "OCIRepository", name: "account-registry", reason: "AuthenticationFailed" },
    message: /spec\.serviceAccountName is not supported.*set spec\.secretRef/,
  },
  {
    ...{ kind: "OCIRepository", name: "notation", reason: "VerificationError" },
    message: /spec\.verify\.provider notation is not supported: use provider cosign/,
  },
  {
    ...{ kind: "OCIRepository", name: "keyless", reason: "VerificationError" },
    message: /spec\.verify\.matchOIDCIdentity is not supported: use provider cosign/,
  },
  {
    ...{ kind: "GitRepository", name: "cloud-git", reason: "AuthenticationFailed" },
    message: /spec\.provider azure of a GitRepository is not supported: set spec\.secretRef/,
  },
  {
    ...{ kind: "Bucket", name: "cloud-bucket", reason: "InvalidProviderConfiguration" },
    message: /spec\.provider azure of a Bucket is not supported: put the charts/,
  },
  {
    ...{ kind: "Bucket", name: "session-bucket", reason: "InvalidSTSConfiguration" },
    message: /spec\.sts \(ldap\) of a Bucket is not supported: set spec\.secretRef/,
  },
  {
    ...{ kind: "Receiver", name: "workflows", reason: "ValidationFailed" },
    message: /type generic-oidc is not supported; write one of generic/,
  },
  {
    ...{ kind: "Receiver", name: "deliveries", reason: "ValidationFailed" },
    message: /type cdevents is not supported; write one of generic/,
  },
];

/** Providers have no status: a Warning Event says it. */
export const refusedProviders: Readonly<Record<string, RegExp>> = {
  messenger: /^providers of type telegram are not supported: use one of generic/,
  "named-commits": /^spec\.commitStatusExpr is not supported/,
};
