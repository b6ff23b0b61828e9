/** The Bundle of a HelmOp: it has the same name. */
import type { HelmOp } from "@flotilla/shared/api";
import { keyOf } from "@flotilla/shared/kube/objects";
import { isBundleOf } from "../cache/index.ts";
import type { BundleOwner } from "../frontend/index.ts";

export const helmOpBundles: BundleOwner<HelmOp> = {
  kind: "HelmOp",
  bundleKeyOf: keyOf,
  owns: (helmOp, bundle) => isBundleOf(bundle, helmOp),
  isSuspended: ({ spec }) => spec.suspend === true,
};
