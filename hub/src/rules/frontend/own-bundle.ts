/** The life of the Bundle that an object of a front end keeps, until the object is deleted. */
import { type Bundle, bundles } from "@flotilla/shared/api";
import { type AppKind, type FrontEndKind, isMadeFor } from "@flotilla/shared/api/apps";
import { bundleNameOf } from "@flotilla/shared/api/names";
import type { AppError } from "@flotilla/shared/errors";
import type { Store } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { done, type Result, requeueAfter } from "@flotilla/shared/kube/controller";
import { type KubeObject, keyOf, type ObjectKey, refOf } from "@flotilla/shared/kube/objects";
import { bundleNameTaken } from "./write-bundle.ts";

export interface OwnBundleDeps {
  readonly rest: KubeRest;
  readonly bundles: Store<Bundle>;
  readonly signer: {
    pinsOf(bundle: Bundle): unknown;
    signed(bundle: Bundle): Bundle;
  };
}

/** The key of the Bundle of an object. */
export function ownBundleKey(
  kind: AppKind,
  { metadata: { namespace = "", name } }: Pick<KubeObject, "metadata">,
): ObjectKey {
  return keyOf({ namespace, name: bundleNameOf(kind, name) });
}

/** Whether a Bundle of that key was made for the object: it may belong to something else. */
export function isOwnBundle(
  kind: AppKind,
  { metadata }: Pick<KubeObject, "metadata">,
  bundle: Bundle,
): boolean {
  return isMadeFor(bundle.metadata.labels, kind, metadata.name);
}

/** The Bundle of an object, as the cache has it; undefined also where something else has its name. */
export function ownBundle(
  kind: FrontEndKind,
  store: Pick<Store<Bundle>, "get">,
  object: KubeObject,
): Bundle | undefined {
  const bundle = store.get(ownBundleKey(kind, object));
  return bundle !== undefined && isOwnBundle(kind, object, bundle) ? bundle : undefined;
}

/** Why the object can have no Bundle: something else has its name, which is left alone. */
export function nameTaken(
  kind: FrontEndKind,
  store: Pick<Store<Bundle>, "get">,
  object: KubeObject,
): AppError | undefined {
  const bundle = store.get(ownBundleKey(kind, object));
  return bundle === undefined || isOwnBundle(kind, object, bundle)
    ? undefined
    : bundleNameTaken(bundle, kind);
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
 * Deletes the Bundle of an object that is being deleted; undefined once it is gone. Whether its releases stay is decided by what
 * the object says now (`isSuspended`), also if the Bundle was not written since. One that our cache does not have is read from the
 * API server: the leader before may have created it last, and nobody else would ever delete it.
 */
export async function deleteBundle(
  deps: OwnBundleDeps,
  kind: FrontEndKind,
  { object, isSuspended }: { readonly object: KubeObject; readonly isSuspended: boolean },
  signal: AbortSignal,
): Promise<Result | undefined> {
  const key = ownBundleKey(kind, object);
  const known = deps.bundles.get(key);
  const bundle = known ?? (await deps.rest.get(bundles, refOf(key), { signal }));
  if (bundle === undefined || !isOwnBundle(kind, object, bundle)) return undefined;
  const { deletionTimestamp, uid } = bundle.metadata;
  if (deletionTimestamp === undefined) {
    await setSuspended(deps, bundle, isSuspended, signal);
    await deps.rest.delete(bundles, bundle.metadata, { ...(uid !== undefined && { uid }), signal });
  }
  // The end of a Bundle that our cache never had may be in no watch.
  return known === undefined ? requeueAfter(1_000, "the Bundle is being deleted") : done();
}
