/**
 * Adds and removes one finalizer of an object, as controller-runtime's `controllerutil` does. A patch, because others
 * write the object too; with its resourceVersion, so that no finalizer of theirs gets lost. The store gets the result
 * at once, so that the next reconcile does not use the previous object. An object that does not exist is what the
 * removal of a finalizer is for: it is not an error.
 */
import type { Store } from "../cache/index.ts";
import { isNotFound, type KubeRest } from "../client/index.ts";
import type { KubeObject, Resource } from "../objects/index.ts";

export interface FinalizerOptions<T extends KubeObject> {
  readonly rest: KubeRest;
  readonly resource: Resource<T>;
  /** The store of the informer that gave the object. */
  readonly store: Pick<Store<T>, "wrote">;
  readonly finalizer: string;
  readonly signal: AbortSignal;
}

/**
 * Adds the finalizer if it is missing; returns the resulting object, or `undefined` when it does not exist: nothing is
 * left to reconcile. Throws a conflict when the object has changed since it was read, also because its deletion has
 * started.
 */
export async function addFinalizer<T extends KubeObject>(
  options: FinalizerOptions<T>,
  object: T,
): Promise<T | undefined> {
  const { finalizers = [] } = object.metadata;
  if (finalizers.includes(options.finalizer)) return object;
  return await patchFinalizers(options, object, [...finalizers, options.finalizer]);
}

/**
 * Removes the finalizer if it is set. Throws a conflict when the object has changed since it was read. Nothing else may
 * be written to the object afterwards: it does not exist any more if this was its last finalizer.
 */
export async function removeFinalizer<T extends KubeObject>(
  options: FinalizerOptions<T>,
  object: T,
): Promise<void> {
  const { finalizers = [] } = object.metadata;
  if (!finalizers.includes(options.finalizer)) return;
  const remaining = finalizers.filter((finalizer) => finalizer !== options.finalizer);
  await patchFinalizers(options, object, remaining);
}

async function patchFinalizers<T extends KubeObject>(
  { rest, resource, store, signal }: FinalizerOptions<T>,
  object: T,
  finalizers: readonly string[],
): Promise<T | undefined> {
  const { uid, resourceVersion } = object.metadata;
  const body = { metadata: { uid, resourceVersion, finalizers } };
  try {
    const written = await rest.patch(
      resource,
      object.metadata,
      { type: "merge", body },
      { signal },
    );
    store.wrote(written);
    return written;
  } catch (thrown) {
    if (!isNotFound(thrown)) throw thrown;
    const { deletionTimestamp = "1970-01-01T00:00:00Z" } = object.metadata;
    // To the store, an object that is being deleted and has no finalizers does not exist.
    store.wrote({ ...object, metadata: { ...object.metadata, deletionTimestamp, finalizers: [] } });
    return undefined;
  }
}
