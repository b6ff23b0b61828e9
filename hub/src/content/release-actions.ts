/** How a release is installed, upgraded and uninstalled, from a Bundle's options to a content. Pure. */
import type { BundleDeploymentOptions, ReleaseActions as Options } from "@flotilla/shared/api";
import { type ReleaseActions, releaseActionsSchema } from "@flotilla/shared/content";
import { parseGoDuration } from "@flotilla/shared/time";

/** Undefined: nothing is set, so that the content is the same as before these options existed. */
export function releaseActions({
  timeout,
  install,
  upgrade,
  test,
  rollback,
  uninstall,
}: BundleDeploymentOptions): ReleaseActions | undefined {
  const actions = {
    ...seconds(timeout),
    ...(install && { install: withoutNulls(install) }),
    ...(upgrade && { upgrade: withoutNulls(upgrade) }),
    ...(test && { test: withoutNulls(test) }),
    ...(rollback && { rollback: withoutNulls(rollback) }),
    ...(uninstall && { uninstall: withoutNulls(uninstall) }),
  };
  // Without fields that this version does not know.
  return Object.keys(actions).length === 0 ? undefined : releaseActionsSchema.parse(actions);
}

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
