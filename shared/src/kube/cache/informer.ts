/** A store that follows the API server, and tells of every change. */

import { AppError, commonErrors } from "../../errors/app-error.ts";
import type { Log } from "../../log/log.ts";
import { type Clock, systemClock } from "../../time/clock.ts";
import { describeKind } from "../client/request-path.ts";
import type { KubeRest } from "../client/rest.ts";
import type { KubeObject, ObjectKey, Resource } from "../objects/object.ts";
import { runReflector } from "./reflector.ts";
import { createRefreshes } from "./relists.ts";
import { type Change, createStore, type Indexers, type Store } from "./store.ts";

export interface InformerOptions<T extends KubeObject> {
  readonly rest: KubeRest;
  readonly resource: Resource<T>;
  readonly log: Log;
  /** All namespaces when absent. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Applied to every object on entry; default `dropBulk` (transform.ts). */
  readonly transform?: (object: T) => T;
  readonly indexers?: Indexers<T>;
  /** Told what came of each list: nothing when it is complete and its changes were told, else why it failed. */
  readonly onListed?: (failure?: AppError) => void;
  /** Freezes objects deeply; for tests. */
  readonly freeze?: boolean;
  readonly clock?: Clock;
  /** Between 0 and 1. */
  readonly random?: () => number;
}

export type ChangeListener<T> = (change: Change<T>) => void;

export interface Informer<T extends KubeObject> {
  readonly store: Store<T>;
  /** Whether the first list is complete. */
  readonly hasSynced: boolean;
  /** Resolves when the first list is complete and its changes were told; rejects when `run` ends before. */
  readonly synced: Promise<void>;
  /**
   * Lists everything anew, for somebody who must know what others have written until now: a watch may have died without a
   * word. Resolves when a list that was begun after the call is complete and its changes were told, or when `signal` aborts.
   */
  refresh(signal: AbortSignal): Promise<void>;
  /** Adds a listener; gives the function that removes it. What is there already is not told again. */
  onChange(listener: ChangeListener<T>): () => void;
  /** Lists and watches until `signal` aborts; never throws. */
  run(signal: AbortSignal): Promise<void>;
}

export function createInformer<T extends KubeObject>(options: InformerOptions<T>): Informer<T> {
  const {
    rest,
    resource,
    log,
    namespace,
    labelSelector,
    fieldSelector,
    indexers,
    freeze,
    clock = systemClock,
  } = options;
  const transform = options.transform ?? dropBulk;
  const store = createStore<T>({
    transform,
    ...(indexers === undefined ? {} : { indexers }),
    ...(freeze === undefined ? {} : { freeze }),
  });
  const listeners = new Set<ChangeListener<T>>();
  const { promise: synced, resolve, reject } = Promise.withResolvers<void>();
  let hasSynced = false;
  const refreshes = createRefreshes();
  // Whoever waits for it hears of it; that nobody does is no failure of the process.
  synced.catch(() => undefined);

  function tell(change: Change<T> | undefined): void {
    if (change === undefined) return;
    for (const listener of listeners) guard(() => listener(change), change.key);
  }

  /** A listener that fails does not end the watch. */
  function guard(listener: () => void, key?: ObjectKey): void {
    try {
      listener();
    } catch (error) {
      log.error(
        { err: AppError.from(error), kind: describeKind(resource), key },
        "change listener failed",
      );
    }
  }

  return {
    store,
    get hasSynced() {
      return hasSynced;
    },
    synced,
    refresh: refreshes.ask,
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async run(signal) {
      await runReflector<T>(
        {
          rest,
          resource,
          selection: {
            ...(namespace === undefined ? {} : { namespace }),
            ...(labelSelector === undefined ? {} : { labelSelector }),
            ...(fieldSelector === undefined ? {} : { fieldSelector }),
          },
          transform,
          log,
          clock,
          random: options.random ?? Math.random,
          untilRefresh: refreshes.untilAsked,
          sink: {
            onListing() {
              const replaceAll = store.beginList();
              const served = refreshes.begin();
              return ({ objects, resourceVersion }) => {
                for (const change of replaceAll(objects, resourceVersion)) tell(change);
                hasSynced = true;
                resolve();
                served();
                guard(() => options.onListed?.());
              };
            },
            onListFailed: (failure) => guard(() => options.onListed?.(failure)),
            onEvent: ({ type, object }) =>
              tell(type === "DELETED" ? store.remove(object) : store.set(object)),
          },
        },
        signal,
      );
      reject(
        new AppError(
          commonErrors.CANCELLED,
          `list ${describeKind(resource)} on ${rest.server}: given up`,
        ),
      );
    },
  };
}
