/** The finalizer of a HelmOp: it stays until its Bundle is deleted. */
import { type Bundle, bundles, type HelmOp, helmOps } from "@flotilla/shared/api";
import { helmOpFinalizer } from "@flotilla/shared/api/names";
import type { Store } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import {
  addFinalizer,
  done,
  type FinalizerOptions,
  type Result,
  removeFinalizer,
  requeueAfter,
} from "@flotilla/shared/kube/controller";
import { keyOf } from "@flotilla/shared/kube/objects";
import { isBundleOf } from "../cache/index.ts";

export interface FinalizerDeps {
  readonly rest: KubeRest;
  readonly helmOps: Store<HelmOp>;
  readonly bundles: Store<Bundle>;
}

/** Undefined when the HelmOp does not exist any more. */
export function addHelmOpFinalizer(
  deps: FinalizerDeps,
  helmOp: HelmOp,
  signal: AbortSignal,
): Promise<HelmOp | undefined> {
  return addFinalizer(optionsOf(deps, signal), helmOp);
}

/**
 * Deletes the Bundle, and removes the finalizer once the Bundle no longer exists. One that our cache does not have is read
 * from the API server: the leader before may have created it last, and nobody else would ever delete it.
 */
export async function finalize(
  deps: FinalizerDeps,
  helmOp: HelmOp,
  signal: AbortSignal,
): Promise<Result> {
  const known = deps.bundles.get(keyOf(helmOp));
  const bundle = known ?? (await deps.rest.get(bundles, helmOp.metadata, { signal }));
  if (bundle === undefined || !isBundleOf(bundle, helmOp)) {
    await removeFinalizer(optionsOf(deps, signal), helmOp);
    return done();
  }
  const { deletionTimestamp, uid } = bundle.metadata;
  if (deletionTimestamp === undefined) {
    await suspend(deps, bundle, helmOp, signal);
    await deps.rest.delete(bundles, bundle.metadata, { ...(uid !== undefined && { uid }), signal });
  }
  // The end of a Bundle that our cache never had may be in no watch.
  return known === undefined ? requeueAfter(1_000, "the Bundle is being deleted") : done();
}

/** Whether the releases stay is decided by what the HelmOp says now, also if its Bundle was not written since. */
async function suspend(
  { rest, bundles: store }: FinalizerDeps,
  bundle: Bundle,
  helmOp: HelmOp,
  signal: AbortSignal,
): Promise<void> {
  const isSuspended = helmOp.spec.suspend === true;
  if ((bundle.spec.suspend === true) === isSuspended) return;
  const spec = { ...bundle.spec, suspend: isSuspended };
  store.wrote(await rest.replace(bundles, { ...bundle, spec }, { signal }));
}

function optionsOf(
  { rest, helmOps: store }: FinalizerDeps,
  signal: AbortSignal,
): FinalizerOptions<HelmOp> {
  return { rest, resource: helmOps, store, finalizer: helmOpFinalizer, signal };
}
