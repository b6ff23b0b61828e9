/** The life of the Bundle that an object of a front end keeps, until the object is deleted. */
import { type Bundle, bundles } from "@flotilla/shared/api";
import type { FrontEndKind } from "@flotilla/shared/api/apps";
import type { AppError } from "@flotilla/shared/errors";
import type { Store } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { done, type Result, requeueAfter } from "@flotilla/shared/kube/controller";
import { type ObjectKey, refOf } from "@flotilla/shared/kube/objects";
import { bundleNameTaken } from "./write-bundle.ts";

/** How the objects of a kind are connected with their Bundles. */
export interface BundleOwner<T> {
  readonly kind: FrontEndKind;
  readonly bundleKeyOf: (object: T) => ObjectKey;
  /** Whether a Bundle of that key was made for the object: it may belong to something else. */
  readonly owns: (object: T, bundle: Bundle) => boolean;
  /** Whether agents leave its releases as they are, also when it is deleted. */
  readonly isSuspended: (object: T) => boolean;
}

export interface OwnBundleDeps {
  readonly rest: KubeRest;
  readonly bundles: Store<Bundle>;
  readonly signer: {
    pinsOf(bundle: Bundle): unknown;
    signed(bundle: Bundle): Bundle;
  };
}

/** The Bundle of an object, as the cache has it; undefined also where something else has its name. */
export function ownBundle<T>(
  owner: BundleOwner<T>,
  store: Pick<Store<Bundle>, "get">,
  object: T,
): Bundle | undefined {
  const bundle = store.get(owner.bundleKeyOf(object));
  return bundle !== undefined && owner.owns(object, bundle) ? bundle : undefined;
}

/** Why the object can have no Bundle: something else has its name, which is left alone. */
export function nameTaken<T>(
  owner: BundleOwner<T>,
  store: Pick<Store<Bundle>, "get">,
  object: T,
): AppError | undefined {
  const bundle = store.get(owner.bundleKeyOf(object));
  return bundle === undefined || owner.owns(object, bundle)
    ? undefined
    : bundleNameTaken(bundle, owner.kind);
}

/** Suspends or resumes a Bundle, and changes nothing else of it. Returns whether it was changed. */
export async function setSuspended(
  deps: OwnBundleDeps,
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

/**
 * Deletes the Bundle of an object that is being deleted; undefined once it is gone. Whether its releases stay is decided by what the
 * object says now, also if the Bundle was not written since. One that our cache does not have is read from the API server: the leader
 * before may have created it last, and nobody else would ever delete it.
 */
export async function deleteBundle<T>(
  deps: OwnBundleDeps,
  owner: BundleOwner<T>,
  object: T,
  signal: AbortSignal,
): Promise<Result | undefined> {
  const key = owner.bundleKeyOf(object);
  const known = deps.bundles.get(key);
  const bundle = known ?? (await deps.rest.get(bundles, refOf(key), { signal }));
  if (bundle === undefined || !owner.owns(object, bundle)) return undefined;
  const { deletionTimestamp, uid } = bundle.metadata;
  if (deletionTimestamp === undefined) {
    await setSuspended(deps, bundle, owner.isSuspended(object), signal);
    await deps.rest.delete(bundles, bundle.metadata, { ...(uid !== undefined && { uid }), signal });
  }
  // The end of a Bundle that our cache never had may be in no watch.
  return known === undefined ? requeueAfter(1_000, "the Bundle is being deleted") : done();
}
