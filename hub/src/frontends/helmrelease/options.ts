/** The options of a HelmRelease as a Bundle has them, with Flux's defaults where they differ from Fleet's. Pure. */
import type { BundleOrigin, BundleSpec } from "@flotilla/shared/api";
import type { HelmReleaseSpec } from "@flotilla/shared/flux";

type Options = Pick<
  BundleSpec,
  | "timeout"
  | "maxHistory"
  | "install"
  | "upgrade"
  | "rollback"
  | "uninstall"
  | "test"
  | "driftDetection"
  | "postRenderers"
  | "healthCheckExprs"
>;

const defaultTimeout = "5m";
const defaultHistory = 5;

/** No other attempt follows a failed one. */
const defaultStrategy = { name: "RemediateOnFailure" } as const;

export function releaseOptions(spec: HelmReleaseSpec): Options {
  const { install, upgrade, rollback, uninstall, test, driftDetection } = spec;
  const method = applyMethod(upgrade, install?.serverSideApply === false ? "disabled" : "enabled");
  return {
    timeout: spec.timeout ?? defaultTimeout,
    maxHistory: spec.maxHistory ?? defaultHistory,
    install: {
      disableWaitForJobs: false,
      disableTakeOwnership: false,
      serverSideApply: true,
      strategy: defaultStrategy,
      remediation: {},
      ...withoutFields(install, ["createNamespace", "skipCRDs"]),
      ...(install?.skipCRDs === true && { crds: "Skip" }),
    },
    upgrade: {
      disableWaitForJobs: false,
      disableTakeOwnership: false,
      chartNameChangeStrategy: "Reinstall",
      strategy: defaultStrategy,
      remediation: {},
      ...upgrade,
      serverSideApply: method,
    },
    rollback: {
      disableWaitForJobs: false,
      ...rollback,
      serverSideApply: applyMethod(rollback, method),
    },
    uninstall: { disableWait: false, ...uninstall },
    ...(test !== undefined && { test }),
    driftDetection: { mode: "disabled", ...driftDetection },
    ...(spec.postRenderers !== undefined && { postRenderers: spec.postRenderers }),
    ...(spec.healthCheckExprs !== undefined && { healthCheckExprs: spec.healthCheckExprs }),
  };
}

/** The actions for which server-side apply is not the default, but what the HelmRelease says; `auto` is what the action before says. */
export function chosenMethods({
  install,
  upgrade,
  rollback,
}: HelmReleaseSpec): NonNullable<BundleOrigin["chosenMethods"]> {
  const isInstall = install?.serverSideApply === true;
  const isUpgrade = isChosen(upgrade, isInstall);
  const isRollback = isChosen(rollback, isUpgrade);
  return [
    ...(isInstall ? (["install"] as const) : []),
    ...(isUpgrade ? (["upgrade"] as const) : []),
    ...(isRollback ? (["rollback"] as const) : []),
  ];
}

function isChosen(action: MethodOption | undefined, before: boolean): boolean {
  const { serverSideApply = "auto" } = action ?? {};
  return serverSideApply === "auto" ? before : serverSideApply === "enabled";
}

interface MethodOption {
  readonly serverSideApply?: "enabled" | "disabled" | "auto" | undefined;
}

/**
 * Helm forces no conflicts where it chooses the method itself, and an upgrade would fail by any field that somebody else has changed.
 * `auto` is the method of the revision before.
 */
function applyMethod(
  action: MethodOption | undefined,
  before: "enabled" | "disabled",
): "enabled" | "disabled" {
  const { serverSideApply = "auto" } = action ?? {};
  return serverSideApply === "auto" ? before : serverSideApply;
}

function withoutFields<T extends object, K extends keyof T>(
  object: T | undefined,
  names: readonly K[],
): Partial<Omit<T, K>> {
  return Object.fromEntries(
    Object.entries(object ?? {}).filter(([name]) => !names.some((each) => each === name)),
  ) as Partial<Omit<T, K>>;
}
