/** Waits for objects and for several starts. */
import { AppError, commonErrors } from "@flotilla/shared/errors";
import { createInformer } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import {
  type KubeObject,
  keyOf,
  type ObjectRef,
  type Resource,
} from "@flotilla/shared/kube/objects";
import { silentLog } from "@flotilla/shared/log";

export interface WaitOptions<T> {
  readonly rest: KubeRest;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** The message of the timeout, from the last state of the object. */
  readonly onTimeout: (last: T | undefined) => string;
}

/**
 * Watches one object until `condition` holds, and returns it; `undefined` stands for an object that does not exist.
 * Throws CANCELLED after `timeoutMs` or when `signal` aborts.
 */
export async function waitForObject<T extends KubeObject>(
  resource: Resource<T>,
  ref: ObjectRef,
  condition: (object: T | undefined) => boolean,
  options: WaitOptions<T>,
): Promise<T | undefined> {
  const stop = new AbortController();
  const signal = AbortSignal.any([
    stop.signal,
    AbortSignal.timeout(options.timeoutMs),
    ...(options.signal ? [options.signal] : []),
  ]);
  const informer = createInformer<T>({
    rest: options.rest,
    resource,
    log: silentLog(),
    fieldSelector: `metadata.name=${ref.name}`,
    ...(ref.namespace !== undefined && { namespace: ref.namespace }),
  });
  const key = keyOf(ref);
  const running = informer.run(signal);
  try {
    return await new Promise<T | undefined>((resolve, reject) => {
      const check = (): void => {
        const object = informer.store.get(key);
        if (condition(object)) resolve(object);
      };
      informer.onChange(check);
      informer.synced.then(check, reject);
      signal.addEventListener("abort", () => {
        if (!stop.signal.aborted)
          reject(new AppError(commonErrors.CANCELLED, options.onTimeout(informer.store.get(key))));
      });
    });
  } finally {
    stop.abort();
    await running;
  }
}

export interface WaitForListOptions {
  readonly rest: KubeRest;
  readonly labelSelector: string;
  readonly timeoutMs: number;
}

/**
 * Watches the objects of all namespaces that a selector has until the value of `read` is final, and returns it; the last value
 * after `timeoutMs`. Rejects if they cannot be listed.
 */
export async function waitForList<T extends KubeObject, V>(
  resource: Resource<T>,
  read: (objects: readonly T[]) => { readonly value: V; readonly isFinal: boolean },
  { rest, labelSelector, timeoutMs }: WaitForListOptions,
): Promise<V> {
  const first = read((await rest.list(resource, { labelSelector })).items);
  if (first.isFinal || timeoutMs <= 0) return first.value;
  const stop = new AbortController();
  const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(timeoutMs)]);
  const informer = createInformer<T>({ rest, resource, labelSelector, log: silentLog() });
  let last = first;
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const check = (): void => {
    if (!informer.hasSynced) return;
    last = read([...informer.store.list()]);
    if (last.isFinal) resolve();
  };
  informer.onChange(check);
  signal.addEventListener("abort", () => resolve());
  const running = informer.run(signal);
  informer.synced.then(check, () => resolve());
  await ended;
  stop.abort();
  await running;
  return last.value;
}

/**
 * As `Promise.all`, but settles only when all promises have: a caller that cleans up after a failure finds all that was
 * started, and nothing starts afterwards.
 */
export async function waitForAll<T extends readonly unknown[] | []>(
  starts: T,
): Promise<{ -readonly [Index in keyof T]: Awaited<T[Index]> }> {
  await Promise.allSettled(starts);
  return Promise.all(starts);
}
