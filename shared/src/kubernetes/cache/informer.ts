/** A store that a reflector keeps equal to the API server, with listeners for its changes. */
import { AppError, commonErrors } from "../../runtime/errors/index.ts";
import type { Log } from "../../runtime/log/index.ts";
import { type Clock, systemClock } from "../../runtime/time/index.ts";
import { describeKind, type KubeRest } from "../client/index.ts";
import type { KubeObject, ObjectKey, Resource } from "../objects/index.ts";
import { type ReflectorSink, runReflector } from "./reflector.ts";
import { createRelists, type Relists } from "./relists.ts";
import { type Change, createStore, type Store, type WatchedStore } from "./store.ts";

export interface InformerOptions<T extends KubeObject> {
  readonly rest: KubeRest;
  readonly resource: Resource<T>;
  readonly log: Log;
  /** All namespaces when absent. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Applied to every object before it is stored; default `dropBulk`. */
  readonly transform?: (object: T) => T;
  /** Called after each list: without an error when its objects are in the store and the listeners were called. */
  readonly onListed?: (failure?: AppError) => void;
  /** Called when a watch ended with an error: from now on the API server may have another history, of a restored backup. */
  readonly onWatchFailed?: () => void;
  /** Freezes objects deeply; for tests. */
  readonly freeze?: boolean;
  readonly clock?: Clock;
  /** From 0 up to 1. */
  readonly random?: () => number;
}

export type ChangeListener<T> = (change: Change<T>) => void;

export interface Informer<T extends KubeObject> {
  readonly store: Store<T>;
  /** Whether the first list is complete. */
  readonly hasSynced: boolean;
  /** Resolves when the first list is complete and the listeners were called; rejects when `run` ends before that. */
  readonly synced: Promise<void>;
  /**
   * Lists everything again, for a caller that needs what others have written until now: a half-open watch delivers nothing.
   * Resolves when a list that started after the call is complete and the listeners were called, or when `signal` aborts.
   */
  refresh(signal: AbortSignal): Promise<void>;
  /** Adds a listener; returns the function that removes it. It is not called for objects that are in the store already. */
  onChange(listener: ChangeListener<T>): () => void;
  /** Lists and watches until `signal` aborts; never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** Removes all objects, and calls the listeners: the kind is gone from the API server. Not to be called while `run` runs. */
  clear(): void;
}

export function createInformer<T extends KubeObject>(options: InformerOptions<T>): Informer<T> {
  const { rest, resource, log, clock = systemClock, freeze = false } = options;
  const transform = options.transform ?? dropBulk;
  const store = createStore<T>({ transform, freeze });
  const listeners = new Set<ChangeListener<T>>();
  const { promise: synced, resolve, reject } = Promise.withResolvers<void>();
  const relists = createRelists();
  let hasSynced = false;
  // It may have no awaiting caller: its rejection must not end the process.
  synced.catch(() => undefined);

  function notify(change: Change<T> | undefined): void {
    if (change === undefined) return;
    for (const listener of listeners) guard(() => listener(change), change.key);
  }

  /** A listener that throws does not end the watch. */
  function guard(call: () => void, key?: ObjectKey): void {
    try {
      call();
    } catch (error) {
      log.error(
        { err: AppError.from(error), kind: describeKind(resource), key },
        "change listener failed",
      );
    }
  }

  const sink = createSink({
    store,
    relists,
    notify,
    onSynced() {
      hasSynced = true;
      resolve();
    },
    onListed: (failure) => guard(() => options.onListed?.(failure)),
    onWatchFailed: () => guard(() => options.onWatchFailed?.()),
  });

  return {
    store,
    get hasSynced() {
      return hasSynced;
    },
    synced,
    refresh: relists.request,
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async run(signal) {
      const { namespace, labelSelector, fieldSelector, random = Math.random } = options;
      const selection = {
        ...(namespace === undefined ? {} : { namespace }),
        ...(labelSelector === undefined ? {} : { labelSelector }),
        ...(fieldSelector === undefined ? {} : { fieldSelector }),
      };
      await runReflector<T>(
        {
          rest,
          resource,
          selection,
          transform,
          log,
          clock,
          random,
          relistRequested: relists.requested,
          sink,
        },
        signal,
      );
      const what = `list ${describeKind(resource)} on ${rest.server}`;
      reject(new AppError(commonErrors.CANCELLED, `${what}: cancelled before the first list`));
    },
    clear() {
      for (const change of store.beginList()([], "0")) notify(change);
    },
  };
}

interface SinkParts<T extends KubeObject> {
  readonly store: WatchedStore<T>;
  readonly relists: Relists;
  readonly notify: (change: Change<T> | undefined) => void;
  readonly onSynced: () => void;
  readonly onListed: (failure?: AppError) => void;
  readonly onWatchFailed: () => void;
}

/** Applies what the reflector delivers to the store, and calls the listeners with the changes. */
function createSink<T extends KubeObject>(parts: SinkParts<T>): ReflectorSink<T> {
  const { store, relists, notify, onSynced, onListed, onWatchFailed } = parts;
  return {
    onListStarted() {
      const replaceAll = store.beginList();
      const served = relists.start();
      return ({ objects, resourceVersion }) => {
        for (const change of replaceAll(objects, resourceVersion)) notify(change);
        onSynced();
        served();
        onListed();
      };
    },
    onListFailed: onListed,
    onWatchFailed,
    onEvent: ({ type, object }) =>
      notify(type === "DELETED" ? store.remove(object) : store.set(object)),
  };
}

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/**
 * An object without `managedFields` and the last-applied annotation of `kubectl apply`, which only cost memory.
 *
 * An object from a store therefore must not be PUT on its main path when others write it too (the annotation would be
 * lost): patch it. PUT to `/status` is safe, it ignores everything else.
 */
export function dropBulk<T extends KubeObject>(object: T): T {
  const { managedFields, ...metadata } = object.metadata;
  const { [lastApplied]: applied, ...annotations } = metadata.annotations ?? {};
  if (managedFields === undefined && applied === undefined) return object;
  // `delete` would leave an object that needs more memory than one built without the fields.
  return {
    ...object,
    metadata: { ...metadata, ...(applied !== undefined && { annotations }) },
  };
}
