/** The Bundle of a HelmRelease: its name is derived from that of the HelmRelease. */
import type { Bundle } from "@flotilla/shared/api";
import { helmReleaseLabel } from "@flotilla/shared/api/names";
import type { HelmRelease } from "@flotilla/shared/flux";
import type { BundleOwner } from "../frontend/index.ts";
import { bundleKeyFor } from "./plan.ts";

export const helmReleaseBundles: BundleOwner<HelmRelease> = {
  kind: "HelmRelease",
  bundleKeyOf: bundleKeyFor,
  owns: (_, bundle) => isOfHelmRelease(bundle),
  isSuspended: ({ spec }) => spec?.suspend === true,
};

/** Whether a Bundle was made for a HelmRelease: for which one its name says. */
export function isOfHelmRelease(bundle: Bundle): boolean {
  return bundle.metadata.labels?.[helmReleaseLabel] !== undefined;
}
