/** How a release is installed, upgraded and uninstalled, from a Bundle's options to a content. Pure. */
import type {
  BundleDeploymentOptions,
  BundleOrigin,
  ReleaseActions as Options,
} from "@flotilla/shared/api";
import { type ReleaseActions, releaseActionsSchema } from "@flotilla/shared/content";
import { parseGoDuration } from "@flotilla/shared/time";

/** Undefined: nothing is set, so that the content is the same as before these options existed. */
export function releaseActions(
  { timeout, install, upgrade, test, rollback, uninstall }: BundleDeploymentOptions,
  origin?: BundleOrigin,
): ReleaseActions | undefined {
  // In a Bundle of a HelmRelease the method is set in any case.
  const chosenMethods =
    origin === undefined
      ? setMethods({ install, upgrade, rollback })
      : (origin.chosenMethods ?? []);
  const actions = {
    ...seconds(timeout),
    ...(chosenMethods.length > 0 && { chosenMethods }),
    ...(install && { install: withoutNulls(install) }),
    ...(upgrade && { upgrade: withoutNulls(upgrade) }),
    ...(test && { test: withoutNulls(test) }),
    ...(rollback && { rollback: withoutNulls(rollback) }),
    ...(uninstall && { uninstall: withoutNulls(uninstall) }),
  };
  // Without fields that this version does not know.
  return Object.keys(actions).length === 0 ? undefined : releaseActionsSchema.parse(actions);
}

/** Where a user has asked for server-side apply. Other methods refuse no chart, so nothing is to be known of them. */
function setMethods({
  install,
  upgrade,
  rollback,
}: Pick<BundleDeploymentOptions, "install" | "upgrade" | "rollback">): readonly ChosenMethod[] {
  return [
    ...(install?.serverSideApply === true ? (["install"] as const) : []),
    ...(upgrade?.serverSideApply === "enabled" ? (["upgrade"] as const) : []),
    ...(rollback?.serverSideApply === "enabled" ? (["rollback"] as const) : []),
  ];
}

type ChosenMethod = NonNullable<ReleaseActions["chosenMethods"]>[number];

type Action = NonNullable<Options["install" | "upgrade" | "test" | "rollback" | "uninstall"]>;

/** With times in seconds. */
function withoutNulls({ timeout, ...options }: Action): Readonly<Record<string, unknown>> {
  const strategy = "strategy" in options ? options.strategy : undefined;
  const given = Object.entries(options).filter(([, value]) => value !== null);
  return {
    ...seconds(timeout),
    ...Object.fromEntries(given),
    ...(strategy && { strategy: strategyOf(strategy) }),
  };
}

function strategyOf({
  name,
  retryInterval,
}: NonNullable<NonNullable<Options["upgrade"]>["strategy"]>) {
  const { timeoutSeconds } = seconds(retryInterval);
  return { name, ...(timeoutSeconds !== undefined && { retryIntervalSeconds: timeoutSeconds }) };
}

function seconds(timeout: string | null | undefined): { readonly timeoutSeconds?: number } {
  const ms = timeout ? parseGoDuration(timeout) : undefined;
  return ms === undefined ? {} : { timeoutSeconds: ms / 1_000 };
}
