/** The arguments of Helm commands. Pure. */
import type { DeploymentKey } from "@flotilla/proto";
import type { DeploymentContent } from "@flotilla/shared/content";
import { chartDigestLabel, releaseLabels } from "./release-record.ts";

export interface UpgradeInputs {
  readonly content: DeploymentContent;
  /** Values are passed on standard input. */
  readonly hasValues: boolean;
  readonly owner: DeploymentKey;
  readonly digest: string;
  /** Digest of what the values were rendered from, if they were. */
  readonly origin?: string | undefined;
  /** The revision that this run creates. */
  readonly revision: number;
  readonly chartPath: string;
  /** `sha256:` and hex, of the archive. */
  readonly chartDigest: string;
  /** A failed run is rolled back by Helm itself, if `atomic` is set. */
  readonly isRolledBackByHelm: boolean;
}

/** `helm upgrade --install`. */
export function upgradeArgs({
  content,
  hasValues,
  owner,
  digest,
  origin,
  revision,
  chartPath,
  chartDigest,
  isRolledBackByHelm,
}: UpgradeInputs): readonly string[] {
  const { helm } = content;
  const labels = [
    `${releaseLabels.deployment}=${owner.name}`,
    `${releaseLabels.uid}=${owner.uid}`,
    `${releaseLabels.digest}=${digest}`,
    `${releaseLabels.chartDigest}=${chartDigestLabel(chartDigest)}`,
    `${releaseLabels.revision}=${revision}`,
    ...(origin === undefined ? [] : [`${releaseLabels.origin}=${origin}`]),
  ];
  return [
    "upgrade",
    "--install",
    content.releaseName,
    chartPath,
    `--namespace=${content.namespace}`,
    "--output=json",
    // Values of earlier revisions must not be reused.
    "--reset-values",
    // The API server validates what is applied, with the same result (docs/adr/0006).
    "--disable-openapi-validation",
    `--history-max=${helm.maxHistory}`,
    `--labels=${labels.join(",")}`,
    ...(hasValues ? ["--values=-"] : []),
    // A rollback by the agent needs Helm to wait for readiness; with --rollback-on-failure it waits by itself.
    ...(helm.timeoutSeconds > 0 || (helm.atomic && !isRolledBackByHelm)
      ? waitArgs(helm.timeoutSeconds)
      : []),
    ...(helm.waitForJobs ? ["--wait-for-jobs"] : []),
    ...(helm.atomic && isRolledBackByHelm ? ["--rollback-on-failure"] : []),
    // Helm rejects --force-replace together with server-side apply.
    ...(helm.force ? ["--force-replace", "--server-side=false"] : []),
    ...(helm.takeOwnership ? ["--take-ownership"] : []),
    ...(helm.skipSchemaValidation ? ["--skip-schema-validation"] : []),
    ...(helm.disableDNS === false ? ["--enable-dns"] : []),
  ];
}

/** Zero seconds: Helm's default timeout. */
function waitArgs(seconds: number): readonly string[] {
  return ["--wait", ...(seconds > 0 ? [`--timeout=${seconds}s`] : [])];
}

/**
 * `helm uninstall`, which waits for deletions only if `waitSeconds` is given. Without `--ignore-not-found`, because Helm
 * (4.3.1) then treats every failure to read its Secrets, such as a missing right, as a release that does not exist.
 */
export function uninstallArgs(
  release: { readonly namespace: string; readonly name: string },
  { waitSeconds, withoutHooks }: UninstallFlags = {},
): readonly string[] {
  return [
    "uninstall",
    release.name,
    `--namespace=${release.namespace}`,
    ...(withoutHooks === true ? ["--no-hooks"] : []),
    ...(waitSeconds === undefined ? [] : waitArgs(waitSeconds)),
  ];
}

export interface UninstallFlags {
  /** How long Helm waits for the deletion of the objects; absent: it does not wait. */
  readonly waitSeconds?: number | undefined;
  readonly withoutHooks?: boolean;
}

/** Whether Helm found no release to uninstall. */
export function isReleaseNotFound(error: string): boolean {
  return /Release not loaded: .*: release: not found$/.test(error);
}
