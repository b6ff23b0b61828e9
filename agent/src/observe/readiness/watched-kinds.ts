/**
 * One watch for each kind that releases have objects of, shared by all followers; if impersonation is required, one for each
 * account, namespace and kind.
 */

import type { AppError } from "@flotilla/shared/errors";
import { createInformer, type Informer } from "@flotilla/shared/kube/cache";
import { isForbidden } from "@flotilla/shared/kube/client";
import {
  type KubeObject,
  keyOf,
  type ObjectKey,
  type Resource,
  refOf,
} from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import { type WatchClient, watchedNamespace, watchKey } from "../../base/index.ts";
import { hasStatus } from "./object-status.ts";
import { type End, endAfter, type LastSeen } from "./removed-objects.ts";
import {
  type CachedObject,
  fingerprintOf,
  onlyMetadata,
  slimObject,
  wholeObject,
} from "./slim-object.ts";

export interface WatchedObject {
  readonly resource: Resource<KubeObject>;
  readonly key: ObjectKey;
  readonly client: WatchClient;
  /** Its fields are kept, for expressions. */
  readonly isWhole: boolean;
}

/** Whether the objects of a kind can be read. */
export type Visibility =
  /** The first list is in progress. */
  | { readonly kind: "listing" }
  | { readonly kind: "denied"; readonly why: string }
  | { readonly kind: "listed" };

export type ChangedObject = Pick<WatchedObject, "resource" | "key">;

export interface WatchedKindsDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Called with the followers of changed objects, and of kinds whose visibility has changed. */
  readonly onChange: (followers: ReadonlySet<string>) => void;
  /** Called before, for a change of more than the status: also when an object was created or deleted. */
  readonly onContentChange: (object: ChangedObject, followers: ReadonlySet<string>) => void;
}

interface Watched {
  readonly informer: Informer<CachedObject>;
  /** By object. */
  readonly followers: Map<ObjectKey, Set<string>>;
  /** How objects with followers ended whose deletion was watched. */
  readonly ends: Map<ObjectKey, End>;
  readonly stop: AbortController;
  failure: AppError | undefined;
}

export type WatchedKinds = ReturnType<typeof createWatchedKinds>;

export function createWatchedKinds(deps: WatchedKindsDeps) {
  const { clock, log, onChange, onContentChange } = deps;
  const kinds = new Map<string, Watched>();
  const running = new Set<Promise<void>>();

  function watch(object: WatchedObject): Watched {
    const { resource, key, client } = object;
    const namespace = watchedNamespace(client, refOf(key).namespace);
    const slim = transformOf(object);
    const informer = createInformer<CachedObject>({
      rest: client.rest,
      resource,
      ...(namespace !== undefined && { namespace }),
      clock,
      log: log.child({ cache: resource.plural }),
      transform(changed) {
        const isFollowed = watched.followers.has(keyOf(changed.metadata));
        return { ...slim(changed), ...(isFollowed && { fingerprint: fingerprintOf(changed) }) };
      },
      onListed(failure) {
        watched.failure = failure;
        onChange(new Set([...watched.followers.values()].flatMap((names) => [...names])));
      },
    });
    const watched: Watched = {
      informer,
      followers: new Map(),
      ends: new Map(),
      stop: new AbortController(),
      failure: undefined,
    };
    informer.onChange((change) => {
      const { key, before, after } = change;
      const followers = watched.followers.get(key);
      if (followers === undefined) return;
      const end = endAfter(resource, change, watched.ends.get(key));
      if (end === undefined) watched.ends.delete(key);
      else watched.ends.set(key, end);
      const known = before?.fingerprint;
      if (known === undefined || known !== after?.fingerprint)
        onContentChange({ resource, key }, new Set(followers));
      onChange(new Set(followers));
    });
    const run = informer.run(watched.stop.signal).finally(() => running.delete(run));
    running.add(run);
    return watched;
  }

  return {
    /** Reports changes of this object with `follower` from now on. */
    follow(object: WatchedObject, follower: string): void {
      const { key } = object;
      const kind = kindKey(object);
      const watched = kinds.get(kind) ?? watch(object);
      kinds.set(kind, watched);
      watched.followers.set(key, (watched.followers.get(key) ?? new Set()).add(follower));
    },
    unfollow(object: WatchedObject, follower: string): void {
      const { key } = object;
      const followers = kinds.get(kindKey(object))?.followers;
      followers?.get(key)?.delete(follower);
      if (followers?.get(key)?.size === 0) followers.delete(key);
    },
    /** Ends the watches of kinds without followers. */
    prune(): void {
      for (const [kind, watched] of kinds) {
        for (const key of watched.ends.keys())
          if (!watched.followers.has(key)) watched.ends.delete(key);
        if (watched.followers.size > 0) continue;
        watched.stop.abort();
        kinds.delete(kind);
      }
    },
    visibilityOf(object: WatchedObject): Visibility {
      const watched = kinds.get(kindKey(object));
      if (watched === undefined) return { kind: "listing" };
      const { failure, informer } = watched;
      // While the server is unavailable the cache is still valid.
      if (failure === undefined || (informer.hasSynced && !isForbidden(failure)))
        return { kind: informer.hasSynced ? "listed" : "listing" };
      const what = isForbidden(failure)
        ? `${object.client.subject} may not list this kind`
        : "this kind could not be listed";
      return { kind: "denied", why: `${what}: ${failure.message}` };
    },
    /** From the cache; undefined if there is no such object. */
    get: (object: WatchedObject): KubeObject | undefined =>
      kinds.get(kindKey(object))?.informer.store.get(object.key),
    lastSeenOf(object: WatchedObject): LastSeen {
      const watched = kinds.get(kindKey(object));
      if (watched?.informer.store.get(object.key) !== undefined) return "present";
      return watched?.ends.get(object.key) ?? "unknown";
    },
    /** Reads an object of a listed kind into the cache. Throws the API error. */
    async read(object: WatchedObject, signal: AbortSignal): Promise<void> {
      const { resource, key, client } = object;
      const read = await client.rest.get(resource, refOf(key), { signal });
      if (read !== undefined) kinds.get(kindKey(object))?.informer.store.wrote(read);
    },
    /** Ends all watches; resolves when they have ended. */
    async end(): Promise<void> {
      for (const { stop } of kinds.values()) stop.abort();
      await Promise.all(running);
    },
  };
}

function transformOf({ resource, isWhole }: WatchedObject): (object: KubeObject) => KubeObject {
  if (isWhole) return (object) => wholeObject(object, resource);
  return hasStatus(resource.group, resource.kind) ? slimObject : onlyMetadata;
}

function kindKey({ resource, key, client, isWhole }: WatchedObject): string {
  const { group, version, plural } = resource;
  return `${watchKey(client, refOf(key).namespace)} ${group}/${version}/${plural}${isWhole ? " whole" : ""}`;
}
