/** The kinds that releases have objects of: one watch for each, shared by all who follow something of it. */

import type { AppError } from "@flotilla/shared/errors/app-error.ts";
import { createInformer, type Informer } from "@flotilla/shared/kube/cache/informer.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import { isForbidden } from "@flotilla/shared/kube/client/status-error.ts";
import {
  type KubeObject,
  type ObjectKey,
  type Resource,
  refOf,
} from "@flotilla/shared/kube/objects/object.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import type { Clock } from "@flotilla/shared/time/clock.ts";
import { hasStatus } from "./object-status.ts";
import { onlyMetadata, slimObject } from "./slim-object.ts";

export interface WatchedObject {
  readonly resource: Resource<KubeObject>;
  readonly key: ObjectKey;
}

/** How far a kind can be seen. */
export type Sight =
  /** Its first list is on its way. */
  | { readonly kind: "waiting" }
  | { readonly kind: "refused"; readonly why: string }
  | { readonly kind: "open" };

export interface WatchedKinds {
  /** Tells of this object to `follower` from now on. */
  follow(object: WatchedObject, follower: string): void;
  leave(object: WatchedObject, follower: string): void;
  /** Ends the watches of kinds that nobody follows any more. */
  prune(): void;
  sightOf(object: WatchedObject): Sight;
  /** What the watch says; undefined when there is no such object. */
  get(object: WatchedObject): KubeObject | undefined;
  /** Reads the object itself, of a kind that has a status and is open. Throws what came back. */
  read(object: WatchedObject, signal: AbortSignal): Promise<void>;
  /** Ends every watch; resolves when they have ended. */
  end(): Promise<void>;
}

export interface WatchedKindsDeps {
  readonly rest: KubeRest;
  readonly clock: Clock;
  readonly log: Log;
  /** Told the followers of what has changed, and those of a kind that can be seen now or cannot any more. */
  readonly onChange: (followers: ReadonlySet<string>) => void;
}

interface Watched {
  readonly informer: Informer<KubeObject>;
  /** By the key of the object that they follow. */
  readonly followers: Map<ObjectKey, Set<string>>;
  readonly stop: AbortController;
  failure: AppError | undefined;
}

export function createWatchedKinds(deps: WatchedKindsDeps): WatchedKinds {
  const { rest, clock, log, onChange } = deps;
  const kinds = new Map<string, Watched>();
  const running = new Set<Promise<void>>();

  function watch(resource: Resource<KubeObject>): Watched {
    const informer = createInformer<KubeObject>({
      rest,
      resource,
      clock,
      log: log.child({ cache: resource.plural }),
      transform: hasStatus(resource.group, resource.kind) ? slimObject : onlyMetadata,
      onListed(failure) {
        watched.failure = failure;
        onChange(new Set([...watched.followers.values()].flatMap((names) => [...names])));
      },
    });
    const watched: Watched = {
      informer,
      followers: new Map(),
      stop: new AbortController(),
      failure: undefined,
    };
    informer.onChange(({ key }) => {
      const followers = watched.followers.get(key);
      if (followers !== undefined) onChange(new Set(followers));
    });
    const run = informer.run(watched.stop.signal).finally(() => running.delete(run));
    running.add(run);
    return watched;
  }

  return {
    follow({ resource, key }, follower) {
      const kind = kindKey(resource);
      const watched = kinds.get(kind) ?? watch(resource);
      kinds.set(kind, watched);
      watched.followers.set(key, (watched.followers.get(key) ?? new Set()).add(follower));
    },
    leave({ resource, key }, follower) {
      const followers = kinds.get(kindKey(resource))?.followers;
      followers?.get(key)?.delete(follower);
      if (followers?.get(key)?.size === 0) followers.delete(key);
    },
    prune() {
      for (const [kind, watched] of kinds) {
        if (watched.followers.size > 0) continue;
        watched.stop.abort();
        kinds.delete(kind);
      }
    },
    sightOf({ resource }) {
      const watched = kinds.get(kindKey(resource));
      if (watched === undefined) return { kind: "waiting" };
      const { failure, informer } = watched;
      // A server that is away for a moment says nothing about what it has.
      if (failure === undefined || (informer.hasSynced && !isForbidden(failure)))
        return { kind: informer.hasSynced ? "open" : "waiting" };
      const what = isForbidden(failure)
        ? "the agent may not list this kind"
        : "this kind could not be listed";
      return { kind: "refused", why: `${what}: ${failure.message}` };
    },
    get: ({ resource, key }) => kinds.get(kindKey(resource))?.informer.store.get(key),
    async read({ resource, key }, signal) {
      const object = await rest.get(resource, refOf(key), { signal });
      if (object !== undefined) kinds.get(kindKey(resource))?.informer.store.wrote(object);
    },
    async end() {
      for (const { stop } of kinds.values()) stop.abort();
      await Promise.all(running);
    },
  };
}

function kindKey({ group, version, plural }: Resource<KubeObject>): string {
  return `${group}/${version}/${plural}`;
}
