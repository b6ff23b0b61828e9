/** The finalizer of a Bundle: it stays until all its BundleDeployments are on their way out. */
import type { Bundle } from "@flotilla/shared/api/bundle.ts";
import { bundleFinalizer } from "@flotilla/shared/api/names.ts";
import { bundles } from "@flotilla/shared/api/resources.ts";
import type { Store } from "@flotilla/shared/kube/cache/store.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";

export interface FinalizerDeps {
  readonly rest: KubeRest;
  readonly bundles: Store<Bundle>;
}

/** One that a person applied has none. */
export async function addFinalizer(
  deps: FinalizerDeps,
  bundle: Bundle,
  signal: AbortSignal,
): Promise<void> {
  const finalizers = bundle.metadata.finalizers ?? [];
  if (finalizers.includes(bundleFinalizer)) return;
  deps.bundles.wrote(await setFinalizers(deps, bundle, [...finalizers, bundleFinalizer], signal));
}

export async function removeFinalizer(
  deps: FinalizerDeps,
  bundle: Bundle,
  signal: AbortSignal,
): Promise<void> {
  const finalizers = bundle.metadata.finalizers ?? [];
  await setFinalizers(
    deps,
    bundle,
    finalizers.filter((name) => name !== bundleFinalizer),
    signal,
  );
}

/** A patch, because other people write Bundles too; with the version, so that none of their finalizers gets lost. */
function setFinalizers(
  { rest }: FinalizerDeps,
  { metadata }: Bundle,
  finalizers: readonly string[],
  signal: AbortSignal,
): Promise<Bundle> {
  const body = { metadata: { resourceVersion: metadata.resourceVersion, finalizers } };
  return rest.patch(bundles, metadata, { type: "merge", body }, { signal });
}
