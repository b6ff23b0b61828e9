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
    ...(helm.timeoutSeconds > 0 ? ["--wait", `--timeout=${helm.timeoutSeconds}s`] : []),
    ...(helm.waitForJobs ? ["--wait-for-jobs"] : []),
    ...(helm.atomic ? ["--rollback-on-failure"] : []),
    // Replacing does not go together with server-side apply.
    ...(helm.force ? ["--force-replace", "--server-side=false"] : []),
    ...(helm.takeOwnership ? ["--take-ownership"] : []),
    ...(helm.skipSchemaValidation ? ["--skip-schema-validation"] : []),
    ...(helm.disableDNS === false ? ["--enable-dns"] : []),
  ];
}

/**
 * Removes a release and its records. Not with `--ignore-not-found`: Helm then takes every failure to read its records,
 * such as rights that are missing, for a release that is not there (4.3.1).
 */
export function uninstallArgs(release: {
  readonly namespace: string;
  readonly name: string;
}): readonly string[] {
  return ["uninstall", release.name, `--namespace=${release.namespace}`];
}

/** Whether Helm found nothing to uninstall. */
export function isNotThere(complaint: string): boolean {
  return /Release not loaded: .*: release: not found$/.test(complaint);
}
