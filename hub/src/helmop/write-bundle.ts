/** Keeps the Bundle of a HelmOp's name as it is planned. */
import { isDeepStrictEqual } from "node:util";
import type { Bundle } from "@flotilla/shared/api/bundle.ts";
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";
import { bundles } from "@flotilla/shared/api/resources.ts";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import type { Store } from "@flotilla/shared/kube/cache/store.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import { keyOf } from "@flotilla/shared/kube/objects/object.ts";
import { isBundleOf } from "../cache/keys.ts";
import { hubErrors } from "../errors/hub-errors.ts";

export interface WriteBundleDeps {
  readonly rest: KubeRest;
  readonly bundles: Store<Bundle>;
}

/** A Bundle of this name that is not ours is left alone. */
export function nameTaken(bundle: Bundle | undefined, helmOp: HelmOp): AppError | undefined {
  if (bundle === undefined || isBundleOf(bundle, helmOp)) return undefined;
  const { name, namespace = "" } = bundle.metadata;
  return new AppError(
    hubErrors.BUNDLE_NAME_TAKEN,
    `a Bundle ${namespace}/${name} exists already that was not made for this HelmOp; make the HelmOp anew under another name, or delete that Bundle`,
  );
}

export async function writeBundle(
  deps: WriteBundleDeps,
  wanted: Bundle,
  signal: AbortSignal,
): Promise<void> {
  const current = deps.bundles.get(keyOf(wanted));
  if (current === undefined) {
    deps.bundles.wrote(await deps.rest.create(bundles, wanted, { signal }));
    return;
  }
  if (current.metadata.deletionTimestamp !== undefined) return;
  if (
    isDeepStrictEqual(current.spec, wanted.spec) &&
    isDeepStrictEqual(current.metadata.labels, wanted.metadata.labels)
  )
    return;
  const next = {
    ...current,
    metadata: { ...current.metadata, labels: wanted.metadata.labels ?? {} },
    spec: wanted.spec,
  };
  deps.bundles.wrote(await deps.rest.replace(bundles, next, { signal }));
}
