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
    ...positional(content.releaseName, chartPath),
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
    `--namespace=${release.namespace}`,
    `--history-max=${maxHistory}`,
    ...(waits ? ["--wait"] : []),
    ...timeoutArgs(options.timeoutSeconds),
    ...(options.waitsForJobs ? ["--wait-for-jobs"] : []),
    ...applyArgs(options),
    ...(options.runsHooks ? [] : ["--no-hooks"]),
    ...(options.cleansUp ? ["--cleanup-on-fail"] : []),
    ...positional(release.name, String(target)),
  ];
}

/** `helm test`, of the deployed revision. */
export function testArgs(
  release: { readonly namespace: string; readonly name: string },
  { timeoutSeconds, only, except }: TestOptions,
): readonly string[] {
  return [
    "test",
    `--namespace=${release.namespace}`,
    ...timeoutArgs(timeoutSeconds),
    ...only.map((name) => `--filter=name=${name}`),
    ...except.map((name) => `--filter=!name=${name}`),
    ...positional(release.name),
  ];
}

/** The last arguments: after `--` nothing is an option, whatever it begins with. */
function positional(...args: readonly string[]): readonly string[] {
  return ["--", ...args];
}

/** The arguments of a command with more options: behind the last ones they would be none. */
export function withOptions(
  options: readonly string[],
  [command = "", ...args]: readonly string[],
): readonly string[] {
  return [command, ...options, ...args];
}

function applyArgs({
  force,
  serverSide,
  takesFields = false,
}: Pick<UpgradeOptions, "force" | "serverSide"> &
  Partial<Pick<UpgradeOptions, "takesFields">>): readonly string[] {
  // Helm rejects --force-replace together with server-side apply.
  if (force) return ["--force-replace", "--server-side=false"];
  return [
    ...(serverSide === undefined ? [] : [`--server-side=${serverSide}`]),
    ...(serverSide === "true" || takesFields ? ["--force-conflicts"] : []),
  ];
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
    `--namespace=${release.namespace}`,
    ...(withoutHooks === true ? ["--no-hooks"] : []),
    ...(keepsHistory === true ? ["--keep-history"] : []),
    ...(cascade === undefined ? [] : [`--cascade=${cascade}`]),
    ...(waitSeconds === undefined ? [] : ["--wait"]),
    ...timeoutArgs(waitSeconds ?? timeoutSeconds ?? 0),
    ...positional(release.name),
  ];
}

/** Whether Helm found no release to uninstall, or its record went with the namespace that was deleted. */
export function isReleaseNotFound(error: string): boolean {
  return (
    /Release not loaded: .*: release: not found$/.test(error) ||
    /^uninstallation completed with 1 error\(s\): uninstall: Failed to purge the release: release: not found$/.test(
      error,
    )
  );
}
