/** How a release is installed, upgraded and uninstalled, from a Bundle's options to a content. Pure. */
import {
  type BundleDeploymentOptions,
  type BundleOrigin,
  contentOptions,
} from "@flotilla/shared/api";
import { type ReleaseActions, releaseActionsSchema } from "@flotilla/shared/content";

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
    ...contentOptions({ timeout, install, upgrade, test, rollback, uninstall }),
    ...(chosenMethods.length > 0 && { chosenMethods }),
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
