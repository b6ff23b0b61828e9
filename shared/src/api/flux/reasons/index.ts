/**
 * The types and reasons of conditions as Flux has them, and the reasons of its events. Programs of users wait for them, so each is written
 * here and nowhere else. In a folder of its own, because the agent reports them and has no use for the schemas of Flux's kinds.
 */

/** Types of conditions. */
export const fluxType = {
  ready: "Ready",
  /** True while it changes, and while a failure is retried. */
  reconciling: "Reconciling",
  /** True after a failure that only a change can end. */
  stalled: "Stalled",

  // HelmReleases
  released: "Released",
  testSuccess: "TestSuccess",
  remediated: "Remediated",
  /** Flotilla's: Flux has events only. */
  drifted: "Drifted",

  // Sources
  artifactInStorage: "ArtifactInStorage",
  sourceVerified: "SourceVerified",
  fetchFailed: "FetchFailed",
  buildFailed: "BuildFailed",
  includeUnavailable: "IncludeUnavailable",
  storageOperationFailed: "StorageOperationFailed",
} as const;

/** Reasons of conditions and events. */
export const fluxReason = {
  succeeded: "Succeeded",
  failed: "Failed",
  progressing: "Progressing",
  progressingWithRetry: "ProgressingWithRetry",
  accessDenied: "AccessDenied",
  dependencyNotReady: "DependencyNotReady",
  featureGateDisabled: "FeatureGateDisabled",
  invalidCELExpression: "InvalidCELExpression",

  // HelmReleases
  artifactFailed: "ArtifactFailed",
  chartMutateError: "ChartMutateError",
  driftCorrected: "DriftCorrected",
  driftCorrectionFailed: "DriftCorrectionFailed",
  driftDetected: "DriftDetected",
  /** Flotilla's: of a condition that Flux does not have. */
  noDriftDetected: "NoDriftDetected",
  installFailed: "InstallFailed",
  installSucceeded: "InstallSucceeded",
  missingRollbackTarget: "MissingRollbackTarget",
  pendingRelease: "PendingRelease",
  reconcileError: "ReconcileError",
  reconciliationFailed: "ReconciliationFailed",
  reconciliationSucceeded: "ReconciliationSucceeded",
  retriesExceeded: "RetriesExceeded",
  rollbackFailed: "RollbackFailed",
  rollbackSucceeded: "RollbackSucceeded",
  sourceNotReady: "SourceNotReady",
  testFailed: "TestFailed",
  testSucceeded: "TestSucceeded",
  uninstallFailed: "UninstallFailed",
  uninstallSucceeded: "UninstallSucceeded",
  upgradeFailed: "UpgradeFailed",
  upgradeSucceeded: "UpgradeSucceeded",
  valuesError: "ValuesError",

  // Sources
  authenticationFailed: "AuthenticationFailed",
  bucketOperationFailed: "BucketOperationFailed",
  chartPackageSucceeded: "ChartPackageSucceeded",
  chartPullError: "ChartPullError",
  chartPullSucceeded: "ChartPullSucceeded",
  chartVerificationError: "ChartVerificationError",
  gitOperationFailed: "GitOperationFailed",
  indexationFailed: "IndexationFailed",
  invalidChartReference: "InvalidChartReference",
  invalidCommitSignature: "InvalidCommitSignature",
  invalidProviderConfiguration: "InvalidProviderConfiguration",
  invalidSTSConfiguration: "InvalidSTSConfiguration",
  invalidTagSignature: "InvalidTagSignature",
  newArtifact: "NewArtifact",
  noArtifact: "NoArtifact",
  noSourceArtifact: "NoSourceArtifact",
  notFound: "NotFound",
  ociLayerOperationFailed: "OCIArtifactLayerOperationFailed",
  ociPullFailed: "OCIArtifactPullFailed",
  readOperationFailed: "ReadOperationFailed",
  sourceUnavailable: "SourceUnavailable",
  urlInvalid: "URLInvalid",
  valuesFilesError: "ValuesFilesError",
  verificationError: "VerificationError",

  // Receivers and Alerts
  metadataAppendFailed: "MetadataAppendFailed",
  notificationDispatchFailed: "NotificationDispatchFailed",
  tokenNotFound: "TokenNotFound",
  validationFailed: "ValidationFailed",
} as const;
