/** The arguments that Helm gets. Pure. */
import type { DeploymentKey } from "@flotilla/proto/messages.ts";
import type { DeploymentContent } from "@flotilla/shared/content/content.ts";
import { chartDigestLabel, releaseLabels } from "./release-record.ts";

export interface UpgradeInputs {
  readonly content: DeploymentContent;
  /** Whether values come on standard input. */
  readonly hasValues: boolean;
  readonly owner: DeploymentKey;
  readonly digest: string;
  /** What the values were rendered from, where they were. */
  readonly origin?: string | undefined;
  /** The revision that this run will make. */
  readonly revision: number;
  readonly chartPath: string;
  /** `sha256:` and hex, of the archive. */
  readonly chartDigest: string;
  /** Whether a run that fails is undone by Helm itself, where that is asked for. */
  readonly isUndoneByHelm: boolean;
}

/** Installs, or upgrades what is there. */
export function upgradeArgs({
  content,
  hasValues,
  owner,
  digest,
  origin,
  revision,
  chartPath,
  chartDigest,
  isUndoneByHelm,
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
    // What was set by hand or by an earlier content does not linger.
    "--reset-values",
    // The API server validates what is applied, and says the same (docs/adr/0006).
    "--disable-openapi-validation",
    `--history-max=${helm.maxHistory}`,
    `--labels=${labels.join(",")}`,
    ...(hasValues ? ["--values=-"] : []),
    // Who is to undo what does not get ready has to wait for it; Helm does so by itself.
    ...(helm.timeoutSeconds > 0 || (helm.atomic && !isUndoneByHelm)
      ? waitArgs(helm.timeoutSeconds)
      : []),
    ...(helm.waitForJobs ? ["--wait-for-jobs"] : []),
    ...(helm.atomic && isUndoneByHelm ? ["--rollback-on-failure"] : []),
    // Replacing does not go together with server-side apply.
    ...(helm.force ? ["--force-replace", "--server-side=false"] : []),
    ...(helm.takeOwnership ? ["--take-ownership"] : []),
    ...(helm.skipSchemaValidation ? ["--skip-schema-validation"] : []),
    ...(helm.disableDNS === false ? ["--enable-dns"] : []),
  ];
}

/** Zero seconds: as long as Helm waits anyway. */
function waitArgs(seconds: number): readonly string[] {
  return ["--wait", ...(seconds > 0 ? [`--timeout=${seconds}s`] : [])];
}

/**
 * Removes a release and its records, and waits until all is gone where it is said how long. Not with `--ignore-not-found`: Helm then takes every failure to read its records,
 * such as rights that are missing, for a release that is not there (4.3.1).
 */
export function uninstallArgs(
  release: { readonly namespace: string; readonly name: string },
  waitSeconds?: number,
): readonly string[] {
  return [
    "uninstall",
    release.name,
    `--namespace=${release.namespace}`,
    ...(waitSeconds === undefined ? [] : waitArgs(waitSeconds)),
  ];
}

/** Whether Helm found nothing to uninstall. */
export function isNotThere(complaint: string): boolean {
  return /Release not loaded: .*: release: not found$/.test(complaint);
}
