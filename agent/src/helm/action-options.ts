/**
 * The options of one action of Helm, from those of the release: Fleet's, and Flux's over them (docs/release-options.md). Pure.
 */
import type { DeploymentContent } from "@flotilla/shared/content";

/** What `helm upgrade --install` is to do. */
export interface UpgradeOptions {
  /** Whether Helm waits until all objects are ready. */
  readonly waits: boolean;
  readonly waitsForJobs: boolean;
  /** How long Helm may take; 0: as long as Helm itself would. */
  readonly timeoutSeconds: number;
  readonly runsHooks: boolean;
  readonly validatesOpenAPI: boolean;
  readonly validatesSchema: boolean;
  readonly takesOwnership: boolean;
  readonly force: boolean;
  /** Absent: as Helm decides. */
  readonly serverSide?: "true" | "false" | "auto";
  readonly skipsCrds: boolean;
  readonly cleansUp: boolean;
  readonly preservesValues: boolean;
  readonly createsNamespace: boolean;
}

/** `isInstall`: there is no release yet, or it is uninstalled. */
export function upgradeOptions(
  { helm, actions = {}, createNamespace }: DeploymentContent,
  isInstall: boolean,
): UpgradeOptions {
  const { install = {}, upgrade = {} } = actions;
  const action = isInstall ? install : upgrade;
  const timeoutSeconds = action.timeoutSeconds ?? actions.timeoutSeconds ?? helm.timeoutSeconds;
  const serverSide = isInstall ? installedBy(install) : appliedBy(upgrade);
  return {
    waits: action.disableWait === undefined ? timeoutSeconds > 0 : !action.disableWait,
    waitsForJobs:
      action.disableWaitForJobs === undefined ? helm.waitForJobs : !action.disableWaitForJobs,
    timeoutSeconds,
    runsHooks: action.disableHooks !== true,
    validatesOpenAPI: action.disableOpenAPIValidation === false,
    validatesSchema: !(action.disableSchemaValidation ?? helm.skipSchemaValidation),
    takesOwnership:
      action.disableTakeOwnership === undefined ? helm.takeOwnership : !action.disableTakeOwnership,
    force: isInstall ? helm.force : (upgrade.force ?? helm.force) && serverSide !== "true",
    ...(serverSide !== undefined && { serverSide }),
    skipsCrds: isInstall && install.crds === "Skip",
    cleansUp: !isInstall && upgrade.cleanupOnFail === true,
    preservesValues: !isInstall && upgrade.preserveValues === true,
    createsNamespace: isInstall && (install.createNamespace ?? createNamespace),
  };
}

type Actions = NonNullable<DeploymentContent["actions"]>;

function installedBy({ serverSideApply }: NonNullable<Actions["install"]>) {
  if (serverSideApply === undefined) return undefined;
  return serverSideApply ? "true" : "false";
}

const appliedAs = { enabled: "true", disabled: "false", auto: "auto" } as const;

function appliedBy({ serverSideApply }: NonNullable<Actions["upgrade"]>) {
  return serverSideApply && appliedAs[serverSideApply];
}

/** The flags of `helm uninstall`. */
export interface UninstallFlags {
  /** How long Helm waits for the deletion of the objects, 0 as long as Helm itself would; absent: it does not wait. */
  readonly waitSeconds?: number | undefined;
  /** How long Helm may take if it does not wait. */
  readonly timeoutSeconds?: number;
  readonly withoutHooks?: boolean;
  readonly keepsHistory?: boolean;
  readonly cascade?: "background" | "foreground" | "orphan";
}

/** Without options Helm waits for no deletion, as in Fleet. */
export function uninstallFlags({ actions }: Pick<DeploymentContent, "actions">): UninstallFlags {
  if (actions === undefined) return {};
  const { uninstall = {} } = actions;
  const timeoutSeconds = uninstall.timeoutSeconds ?? actions.timeoutSeconds;
  return {
    ...(uninstall.disableWait === false && { waitSeconds: timeoutSeconds ?? 0 }),
    ...(timeoutSeconds !== undefined && { timeoutSeconds }),
    ...(uninstall.disableHooks === true && { withoutHooks: true }),
    ...(uninstall.keepHistory === true && { keepsHistory: true }),
    ...(uninstall.deletionPropagation && { cascade: uninstall.deletionPropagation }),
  };
}
