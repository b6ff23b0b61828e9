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
