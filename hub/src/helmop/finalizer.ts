/** The finalizer of a HelmOp: it stays until its Bundle is gone. */
import { isDeepStrictEqual } from "node:util";
import type { Bundle } from "@flotilla/shared/api/bundle.ts";
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";
import { helmOpFinalizer } from "@flotilla/shared/api/names.ts";
import { bundles, helmOps } from "@flotilla/shared/api/resources.ts";
import type { Store } from "@flotilla/shared/kube/cache/store.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import { keyOf } from "@flotilla/shared/kube/objects/object.ts";
import { isBundleOf } from "../cache/keys.ts";

export interface FinalizerDeps {
  readonly rest: KubeRest;
  readonly helmOps: Store<HelmOp>;
  readonly bundles: Store<Bundle>;
}

export async function addFinalizer(
  deps: FinalizerDeps,
  helmOp: HelmOp,
  signal: AbortSignal,
): Promise<void> {
  const finalizers = helmOp.metadata.finalizers ?? [];
  if (!finalizers.includes(helmOpFinalizer))
    await setFinalizers(deps, helmOp, [...finalizers, helmOpFinalizer], signal);
}

/** The Bundle goes first; the HelmOp follows when it is gone. */
export async function finish(
  deps: FinalizerDeps,
  helmOp: HelmOp,
  signal: AbortSignal,
): Promise<void> {
  const bundle = deps.bundles.get(keyOf(helmOp));
  if (bundle !== undefined && isBundleOf(bundle, helmOp)) {
    if (bundle.metadata.deletionTimestamp === undefined) {
      await deps.rest.delete(bundles, bundle.metadata, {
        ...(bundle.metadata.uid !== undefined && { uid: bundle.metadata.uid }),
        signal,
      });
    }
    return;
  }
  await setFinalizers(
    deps,
    helmOp,
    (helmOp.metadata.finalizers ?? []).filter((name) => name !== helmOpFinalizer),
    signal,
  );
}

/** A patch, because other people write HelmOps too; with the version, so that none of their finalizers gets lost. */
async function setFinalizers(
  deps: FinalizerDeps,
  helmOp: HelmOp,
  finalizers: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  if (isDeepStrictEqual(finalizers, helmOp.metadata.finalizers ?? [])) return;
  const body = { metadata: { resourceVersion: helmOp.metadata.resourceVersion, finalizers } };
  deps.helmOps.wrote(
    await deps.rest.patch(helmOps, helmOp.metadata, { type: "merge", body }, { signal }),
  );
}
