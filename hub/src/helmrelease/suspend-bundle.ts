/** Suspends the Bundle of a HelmRelease, so that agents leave the release as it is. */
import { type Bundle, bundles } from "@flotilla/shared/api";
import { helmReleaseLabel } from "@flotilla/shared/api/names";
import type { Store } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import type { PinSigner } from "../resolve/index.ts";

export interface SuspendBundleDeps {
  readonly rest: KubeRest;
  readonly bundles: Store<Bundle>;
  readonly signer: PinSigner;
}

/** Whether a Bundle was made for a HelmRelease, which its name is derived from. */
export function isBundleOf(bundle: Bundle): boolean {
  return bundle.metadata.labels?.[helmReleaseLabel] !== undefined;
}

/** Suspends or resumes a Bundle, and changes nothing else of it. Returns whether it was changed. */
export async function setSuspended(
  deps: SuspendBundleDeps,
  bundle: Bundle,
  isSuspended: boolean,
  signal: AbortSignal,
): Promise<boolean> {
  if ((bundle.spec.suspend === true) === isSuspended) return false;
  // What somebody else has changed in it does not get a signature.
  const isOurs = deps.signer.pinsOf(bundle) !== undefined;
  const changed = { ...bundle, spec: { ...bundle.spec, suspend: isSuspended } };
  const next = isOurs ? deps.signer.signed(changed) : changed;
  deps.bundles.wrote(await deps.rest.replace(bundles, next, { signal }));
  return true;
}
