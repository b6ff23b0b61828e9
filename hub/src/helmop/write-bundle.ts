/** Keeps the Bundle of a HelmOp's name as it is planned. */
import { isDeepStrictEqual } from "node:util";
import { type Bundle, bundles, type HelmOp } from "@flotilla/shared/api";
import { AppError } from "@flotilla/shared/errors";
import type { Store } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { keyOf } from "@flotilla/shared/kube/objects";
import { isBundleOf } from "../cache/index.ts";
import { hubErrors } from "../errors/index.ts";

export interface WriteBundleDeps {
  readonly rest: KubeRest;
  readonly bundles: Store<Bundle>;
}

/** Another Bundle of this name is left alone. */
export function nameTaken(bundle: Bundle | undefined, helmOp: HelmOp): AppError | undefined {
  if (bundle === undefined || isBundleOf(bundle, helmOp)) return undefined;
  const { name, namespace = "" } = bundle.metadata;
  return new AppError(
    hubErrors.BUNDLE_NAME_TAKEN,
    `a Bundle ${namespace}/${name} exists already that was not made for this HelmOp; create the HelmOp under another name, or delete that Bundle`,
  );
}

export async function writeBundle(
  deps: WriteBundleDeps,
  desired: Bundle,
  signal: AbortSignal,
): Promise<void> {
  const current = deps.bundles.get(keyOf(desired));
  if (current === undefined) {
    deps.bundles.wrote(await deps.rest.create(bundles, desired, { signal }));
    return;
  }
  if (current.metadata.deletionTimestamp !== undefined) return;
  const { labels = {} } = desired.metadata;
  // Others may have annotations of their own on it.
  const annotations = { ...current.metadata.annotations, ...desired.metadata.annotations };
  if (
    isDeepStrictEqual(current.spec, desired.spec) &&
    isDeepStrictEqual(current.metadata.labels, labels) &&
    isDeepStrictEqual(current.metadata.annotations ?? {}, annotations)
  )
    return;
  const metadata = { ...current.metadata, labels, annotations };
  const next = { ...current, metadata, spec: desired.spec };
  deps.bundles.wrote(await deps.rest.replace(bundles, next, { signal }));
}
