/**
 * The options of one action of Helm, from the release's: Fleet's, and Flux's over them (docs/release-options.md). Pure.
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
  /** Helm replaces objects as a whole instead of patching them. */
  readonly force: boolean;
  /** Objects that the API server does not let be changed are deleted and created again. */
  readonly replacesRefused: boolean;
  /** Absent: as Helm decides. */
  readonly serverSide?: "true" | "false" | "auto";
  /** Also where the method is left to Helm, fields that other managers have are taken from them: server-side apply fails by them. */
  readonly takesFields: boolean;
  /** A user has chosen it, so it is never changed. */
  readonly isMethodChosen: boolean;
  /** What is done with the folder `crds`. */
  readonly crds: "Skip" | "Create" | "CreateReplace";
  /** Helm creates no CRDs of that folder, which it does with an installation only. */
  readonly helmSkipsCrds: boolean;
  readonly cleansUp: boolean;
  /** A failed run is undone: Fleet's option, for which Flux has remediation. */
  readonly isAtomic: boolean;
  readonly preservesValues: boolean;
  readonly createsNamespace: boolean;
}

/** What the API server has refused before. */
export interface RefusedMethods {
  /** Server-side apply: the release is applied client-side unless a user has chosen the method. */
  readonly isClientSide?: boolean;
  /** That Helm replaces objects as a whole, which it cannot do with a Job or a bound claim: it patches them. */
  readonly isPatched?: boolean;
}

/** `isInstall`: there is no release yet, or it is uninstalled. */
export function upgradeOptions(
  { helm, actions = {}, createNamespace }: DeploymentContent,
  isInstall: boolean,
  { isClientSide = false, isPatched = false }: RefusedMethods = {},
): UpgradeOptions {
  const { install = {}, upgrade = {}, chosenMethods = [] } = actions;
  const action = isInstall ? install : upgrade;
  const timeoutSeconds = action.timeoutSeconds ?? actions.timeoutSeconds ?? helm.timeoutSeconds;
  const crds = action.crds ?? (isInstall ? "Create" : "Skip");
  const force = isInstall ? helm.force : (upgrade.force ?? helm.force);
  const isMethodChosen = chosenMethods.includes(isInstall ? "install" : "upgrade");
  const serverSide = methodOf(isInstall ? installedBy(install) : appliedBy(upgrade), {
    isClientSide: isClientSide && !isMethodChosen,
    force,
  });
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
    force: force && serverSide === "false" && !isPatched,
    replacesRefused: force,
    ...(serverSide !== undefined && { serverSide }),
    takesFields: false,
    isMethodChosen,
    crds,
    helmSkipsCrds: isInstall && crds !== "Create",
    cleansUp: !isInstall && upgrade.cleanupOnFail === true,
    isAtomic: helm.atomic && !action.strategy && !action.remediation,
    preservesValues: !isInstall && upgrade.preserveValues === true,
    createsNamespace: isInstall && (install.createNamespace ?? createNamespace),
  };
}

/** Whether a release may be taken over that others installed. */
export function takesOwnership(content: DeploymentContent): boolean {
  return [true, false].some((isInstall) => upgradeOptions(content, isInstall).takesOwnership);
}

type Actions = NonNullable<DeploymentContent["actions"]>;

type Method = NonNullable<UpgradeOptions["serverSide"]>;

/** Who forces changes must not fail by a field that another manager has, which only a patch by the client never does. */
function methodOf(
  given: Method | undefined,
  { isClientSide, force }: { readonly isClientSide: boolean; readonly force: boolean },
): Method | undefined {
  return isClientSide || (force && given !== "true") ? "false" : given;
}

function installedBy({ serverSideApply }: NonNullable<Actions["install"]>) {
  if (serverSideApply === undefined) return undefined;
  return serverSideApply ? "true" : "false";
}

const appliedAs = { enabled: "true", disabled: "false", auto: "auto" } as const;

function appliedBy({ serverSideApply }: NonNullable<Actions["upgrade" | "rollback"]>) {
  return serverSideApply && appliedAs[serverSideApply];
}

/** What `helm rollback` is to do. */
export type RollbackOptions = Pick<
  UpgradeOptions,
  | "waits"
  | "waitsForJobs"
  | "timeoutSeconds"
  | "runsHooks"
  | "force"
  | "replacesRefused"
  | "serverSide"
  | "cleansUp"
>;

/** What is unset is as for upgrades. `isClientSide`: the revision was applied client-side because server-side apply refused it. */
export function rollbackOptions(
  content: DeploymentContent,
  { isClientSide = false, isPatched = false }: RefusedMethods = {},
): RollbackOptions {
  const { rollback = {}, timeoutSeconds: common, chosenMethods = [] } = content.actions ?? {};
  const upgrade = upgradeOptions(content, false);
  const timeoutSeconds = rollback.timeoutSeconds ?? common ?? upgrade.timeoutSeconds;
  const force = rollback.force === true;
  const serverSide = methodOf(appliedBy(rollback), {
    isClientSide: isClientSide && !chosenMethods.includes("rollback"),
    force,
  });
  return {
    waits: rollback.disableWait === undefined ? timeoutSeconds > 0 : !rollback.disableWait,
    waitsForJobs:
      rollback.disableWaitForJobs === undefined
        ? upgrade.waitsForJobs
        : !rollback.disableWaitForJobs,
    timeoutSeconds,
    runsHooks: rollback.disableHooks !== true,
    force: force && serverSide === "false" && !isPatched,
    replacesRefused: force,
    ...(serverSide !== undefined && { serverSide }),
    cleansUp: rollback.cleanupOnFail === true,
  };
}

/** What `helm test` is to do. */
export interface TestOptions {
  /** 0: as long as Helm itself would. */
  readonly timeoutSeconds: number;
  readonly only: readonly string[];
  readonly except: readonly string[];
}

/** Undefined: no tests run. */
export function testOptions({ actions, helm }: DeploymentContent): TestOptions | undefined {
  const { test } = actions ?? {};
  if (test?.enable !== true) return undefined;
  const filters = test.filters ?? [];
  const named = (exclude: boolean) =>
    filters.flatMap((filter) => ((filter.exclude ?? false) === exclude ? [filter.name] : []));
  return {
    timeoutSeconds: test.timeoutSeconds ?? actions?.timeoutSeconds ?? helm.timeoutSeconds,
    only: named(false),
    except: named(true),
  };
}

/** The flags of `helm uninstall`. */
export interface UninstallFlags {
  /** How long Helm waits for the deletion of the objects, 0 as long as Helm itself would; absent: it does not wait. */
  readonly waitSeconds?: number | undefined;
  /** How long Helm may take if it does not wait. */
  readonly timeoutSeconds?: number | undefined;
  readonly withoutHooks?: boolean | undefined;
  readonly keepsHistory?: boolean | undefined;
  readonly cascade?: "background" | "foreground" | "orphan" | undefined;
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
