/** A store that a test changes itself, and that notifies like an informer. */
import {
  type ChangeListener,
  createStore,
  type Informer,
  type StoreOptions,
} from "@flotilla/shared/kube/cache";
import { type KubeObject, keyOf, type ObjectKey } from "@flotilla/shared/kube/objects";

export interface WatchedStore<T extends KubeObject>
  extends Pick<Informer<T>, "store" | "onChange"> {
  /** The watch delivers the object. */
  saw(object: T): void;
  /** The keys that the watch delivered; our own writes may hide some of them. */
  keys(): readonly ObjectKey[];
  /** The watch delivers the deletion. */
  missed(key: ObjectKey): void;
}

export function createWatchedStore<T extends KubeObject>(
  options: StoreOptions<T> = {},
): WatchedStore<T> {
  const store = createStore<T>({ freeze: true, ...options });
  const delivered = new Map<ObjectKey, T>();
  const listeners = new Set<ChangeListener<T>>();
  return {
    store,
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    keys: () => [...delivered.keys()],
    saw(object) {
      delivered.set(keyOf(object), object);
      const change = store.set(object);
      if (change !== undefined) for (const listener of listeners) listener(change);
    },
    missed(key) {
      const object = delivered.get(key);
      delivered.delete(key);
      const change = object && store.remove(object);
      if (change !== undefined) for (const listener of listeners) listener(change);
    },
  };
}
