/** Watches the objects of one kind in one namespace. Referenced ones are kept whole and packed; of the others only the metadata. */

import type { ObjectRefKind } from "@flotilla/proto";
import type { AppError } from "@flotilla/shared/errors";
import { createInformer, dropBulk } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { configMaps, keyOf, type Resource, refOf, secrets } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import { createObjectEntries, type ObjectEntries, type ProjectSecret } from "./object-entries.ts";
import {
  type StoredObject,
  type WorkspaceObject,
  watchedFields,
  withoutContent,
} from "./workspace-object.ts";

export interface KindWatchOptions {
  readonly rest: KubeRest;
  readonly kind: ObjectRefKind;
  readonly namespace: string;
  /** Called with the name of an object whose observed state has changed. */
  readonly onChange: (name: string) => void;
  readonly project?: ProjectSecret | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** Keeps the observed state of referenced objects up to date. */
export interface KindWatch
  extends Pick<ObjectEntries, "size" | "names" | "watch" | "unwatch" | "get" | "known"> {
  /** The state once it is not older than this call. Throws when the object cannot be read. */
  refreshed(name: string): Promise<WorkspaceObject>;
  /** An object has changed, as far as is known. */
  changed(name: string): void;
  run(signal: AbortSignal): Promise<void>;
}

export function createKindWatch(options: KindWatchOptions): KindWatch {
  const { rest, kind, namespace, clock } = options;
  const log = options.log.child({ workspace: namespace });
  const resource = resourceOf(kind);
  const fieldSelector = watchedFields(kind);
  /** Objects in the store that were not referenced when they arrived, and lack their content. */
  const withoutData = new WeakSet<StoredObject>();
  let listFailure: AppError | undefined;

  const entries = createObjectEntries({
    ...options,
    log,
    isReady: () => informer.hasSynced,
    failure: () => listFailure,
    async read(name) {
      const stored = informer.store.get(keyOf({ namespace, name }));
      // Referenced only after it had arrived.
      return stored !== undefined && withoutData.has(stored)
        ? await rest.get(resource, { namespace, name })
        : stored;
    },
  });
  const informer = createInformer<StoredObject>({
    rest,
    resource,
    namespace,
    ...(fieldSelector !== undefined && { fieldSelector }),
    log,
    clock,
    transform(object) {
      if (entries.has(object.metadata.name)) return dropBulk(object);
      const without = withoutContent(object);
      withoutData.add(without);
      return without;
    },
    onListed(failure) {
      listFailure = failure;
      if (failure === undefined) for (const name of entries.names()) void entries.refresh(name);
      else entries.failUnknown(failure);
    },
  });
  informer.onChange(({ key }) => void entries.refresh(refOf(key).name));

  return {
    get size() {
      return entries.size;
    },
    names: entries.names,
    watch: entries.watch,
    unwatch: entries.unwatch,
    get: entries.get,
    known: entries.known,
    // The watch delivers every change.
    refreshed: entries.known,
    changed: () => undefined,
    async run(signal) {
      await informer.run(signal);
      entries.end();
    },
  };
}

/** Each kind has a subset of the fields of both. */
export function resourceOf(kind: ObjectRefKind): Resource<StoredObject> {
  return kind === "Secret" ? secrets : configMaps;
}
