/** How a release is installed, upgraded and uninstalled, from a Bundle's options to a content. Pure. */
import type { BundleDeploymentOptions, ReleaseActions as Options } from "@flotilla/shared/api";
import { type ReleaseActions, releaseActionsSchema } from "@flotilla/shared/content";
import { parseGoDuration } from "@flotilla/shared/time";

/** Undefined: nothing is set, so that the content is the same as before these options existed. */
export function releaseActions({
  timeout,
  install,
  upgrade,
  uninstall,
}: BundleDeploymentOptions): ReleaseActions | undefined {
  const actions = {
    ...seconds(timeout),
    ...(install && { install: withSeconds(install) }),
    ...(upgrade && { upgrade: withSeconds(upgrade) }),
    ...(uninstall && { uninstall: withSeconds(uninstall) }),
  };
  // Without fields that this version does not know.
  return Object.keys(actions).length === 0 ? undefined : releaseActionsSchema.parse(actions);
}

type Action = NonNullable<Options["install"] | Options["upgrade"] | Options["uninstall"]>;

function withSeconds<T extends Action>({ timeout, ...options }: T) {
  return { ...seconds(timeout), ...options };
}

function seconds(timeout: string | null | undefined): { readonly timeoutSeconds?: number } {
  const ms = timeout ? parseGoDuration(timeout) : undefined;
  return ms === undefined ? {} : { timeoutSeconds: ms / 1_000 };
}
