/** Waits until an object is as somebody wants it, by watching it. */
import { AppError, commonErrors } from "@flotilla/shared/errors/app-error.ts";
import { createInformer } from "@flotilla/shared/kube/cache/informer.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import {
  type KubeObject,
  keyOf,
  type ObjectRef,
  type Resource,
} from "@flotilla/shared/kube/objects/object.ts";
import { silentLog } from "@flotilla/shared/log/log.ts";

export interface WaitOptions<T> {
  readonly rest: KubeRest;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** What is said when the time is over; given what the object was like then. */
  readonly onTimeout: (last: T | undefined) => string;
}

/** The object once `isWanted` holds; `undefined` stands for an object that is not there. Rejects when the time is over. */
export async function waitForObject<T extends KubeObject>(
  resource: Resource<T>,
  ref: ObjectRef,
  isWanted: (object: T | undefined) => boolean,
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
      const look = (): void => {
        const object = informer.store.get(key);
        if (isWanted(object)) resolve(object);
      };
      informer.onChange(look);
      informer.synced.then(look, reject);
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
