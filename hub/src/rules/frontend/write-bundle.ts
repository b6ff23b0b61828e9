/** Keeps the Bundle of a front end's object as it is planned. */
import { isDeepStrictEqual } from "node:util";
import { type Bundle, bundles } from "@flotilla/shared/api";
import type { FrontEndKind } from "@flotilla/shared/api/apps";
import { AppError } from "@flotilla/shared/errors";
import type { Store } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { keyOf } from "@flotilla/shared/kube/objects";
import { hubErrors } from "../../base/index.ts";

export interface WriteBundleDeps {
  readonly rest: KubeRest;
  readonly bundles: Store<Bundle>;
}

/** Why a Bundle that was not made for this object keeps its name, and is left alone. `kind`: of the object. */
export function bundleNameTaken({ metadata }: Bundle, kind: FrontEndKind): AppError {
  return new AppError(
    hubErrors.BUNDLE_NAME_TAKEN,
    `a Bundle ${metadata.namespace}/${metadata.name} exists already that was not made for this ${kind}; create the ${kind} under another name, or delete that Bundle`,
  );
}

/** Creates or changes the Bundle; one that is being deleted is left until it is gone. */
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
