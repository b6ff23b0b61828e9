/** A store that a test changes itself, and that tells of it as an informer does. */
import type { ChangeListener, Informer } from "@flotilla/shared/kube/cache/informer.ts";
import { createStore, type StoreOptions } from "@flotilla/shared/kube/cache/store.ts";
import { type KubeObject, keyOf, type ObjectKey } from "@flotilla/shared/kube/objects/object.ts";

export interface WatchedStore<T extends KubeObject>
  extends Pick<Informer<T>, "store" | "onChange"> {
  /** The watch delivers it. */
  saw(object: T): void;
  /** The watch delivers that it is gone. */
  missed(key: ObjectKey): void;
}

export function createWatchedStore<T extends KubeObject>(
  options: StoreOptions<T> = {},
): WatchedStore<T> {
  const store = createStore<T>({ freeze: true, ...options });
  const listeners = new Set<ChangeListener<T>>();
  return {
    store,
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    saw(object) {
      const change = store.set(object);
      if (change !== undefined) for (const listener of listeners) listener(change);
    },
    missed(key) {
      const object = store.list().find((each) => keyOf(each) === key);
      const change = object && store.remove(object);
      if (change !== undefined) for (const listener of listeners) listener(change);
    },
  };
}
