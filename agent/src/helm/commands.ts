/** The arguments of Helm commands. Pure. */
import type { DeploymentKey } from "@flotilla/proto";
import type { DeploymentContent } from "@flotilla/shared/content";
import type {
  RollbackOptions,
  TestOptions,
  UninstallFlags,
  UpgradeOptions,
} from "./action-options.ts";
import { chartDigestLabel, releaseLabels } from "./release-record.ts";

export interface UpgradeInputs {
  readonly content: DeploymentContent;
  readonly options: UpgradeOptions;
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
  /** A failed run is rolled back by Helm itself. */
  readonly isRolledBackByHelm: boolean;
  /** Helm waits until the objects are ready. */
  readonly waits: boolean;
}

/** `helm upgrade --install`. */
export function upgradeArgs({
  content,
  options,
  hasValues,
  owner,
  digest,
  origin,
  revision,
  chartPath,
  chartDigest,
  isRolledBackByHelm,
  waits,
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
    // Values of earlier revisions must not be reused, unless a user wants them.
    options.preservesValues ? "--reuse-values" : "--reset-values",
    // The API server validates what is applied, with the same result (docs/adr/0006).
    ...(options.validatesOpenAPI ? [] : ["--disable-openapi-validation"]),
    `--history-max=${helm.maxHistory}`,
    `--labels=${labels.join(",")}`,
    ...(hasValues ? ["--values=-"] : []),
    ...(waits ? ["--wait"] : []),
    ...timeoutArgs(options.timeoutSeconds),
    ...(options.waitsForJobs ? ["--wait-for-jobs"] : []),
    ...(isRolledBackByHelm ? ["--rollback-on-failure"] : []),
    ...applyArgs(options),
    ...(options.runsHooks ? [] : ["--no-hooks"]),
    ...(options.helmSkipsCrds ? ["--skip-crds"] : []),
    ...(options.cleansUp ? ["--cleanup-on-fail"] : []),
    ...(options.takesOwnership ? ["--take-ownership"] : []),
    ...(options.validatesSchema ? [] : ["--skip-schema-validation"]),
    ...(helm.disableDNS === false ? ["--enable-dns"] : []),
  ];
}

/** `helm rollback` to a revision. */
export function rollbackArgs(
  release: { readonly namespace: string; readonly name: string },
  {
    target,
    options,
    waits,
    maxHistory,
  }: {
    readonly target: number;
    readonly options: RollbackOptions;
    /** Helm waits until the objects are ready. */
    readonly waits: boolean;
    readonly maxHistory: number;
  },
): readonly string[] {
  return [
    "rollback",
    release.name,
    String(target),
    `--namespace=${release.namespace}`,
    `--history-max=${maxHistory}`,
    ...(waits ? ["--wait"] : []),
    ...timeoutArgs(options.timeoutSeconds),
    ...(options.waitsForJobs ? ["--wait-for-jobs"] : []),
    ...applyArgs(options),
    ...(options.runsHooks ? [] : ["--no-hooks"]),
    ...(options.cleansUp ? ["--cleanup-on-fail"] : []),
  ];
}

/** `helm test`, of the deployed revision. */
export function testArgs(
  release: { readonly namespace: string; readonly name: string },
  { timeoutSeconds, only, except }: TestOptions,
): readonly string[] {
  return [
    "test",
    release.name,
    `--namespace=${release.namespace}`,
    ...timeoutArgs(timeoutSeconds),
    ...only.map((name) => `--filter=name=${name}`),
    ...except.map((name) => `--filter=!name=${name}`),
  ];
}

function applyArgs({
  force,
  serverSide,
}: Pick<UpgradeOptions, "force" | "serverSide">): readonly string[] {
  // Helm rejects --force-replace together with server-side apply.
  if (force) return ["--force-replace", "--server-side=false"];
  if (serverSide === undefined) return [];
  return [`--server-side=${serverSide}`, ...(serverSide === "true" ? ["--force-conflicts"] : [])];
}

/** Zero seconds: Helm's default timeout. */
function timeoutArgs(seconds: number): readonly string[] {
  return seconds > 0 ? [`--timeout=${seconds}s`] : [];
}

/**
 * `helm uninstall`, which waits for deletions only if `waitSeconds` is given. Without `--ignore-not-found`, because Helm
 * (4.3.1) then treats every failure to read its Secrets, such as a missing right, as a release that does not exist.
 */
export function uninstallArgs(
  release: { readonly namespace: string; readonly name: string },
  { waitSeconds, timeoutSeconds, withoutHooks, keepsHistory, cascade }: UninstallFlags = {},
): readonly string[] {
  return [
    "uninstall",
    release.name,
    `--namespace=${release.namespace}`,
    ...(withoutHooks === true ? ["--no-hooks"] : []),
    ...(keepsHistory === true ? ["--keep-history"] : []),
    ...(cascade === undefined ? [] : [`--cascade=${cascade}`]),
    ...(waitSeconds === undefined ? [] : ["--wait"]),
    ...timeoutArgs(waitSeconds ?? timeoutSeconds ?? 0),
  ];
}

/** Whether Helm found no release to uninstall. */
export function isReleaseNotFound(error: string): boolean {
  return /Release not loaded: .*: release: not found$/.test(error);
}
