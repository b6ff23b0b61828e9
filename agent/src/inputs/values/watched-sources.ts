/**
 * Watches ConfigMaps and Secrets of the cluster that deployments take values from: one watch for each namespace and kind with
 * the agent's own rights, or, if impersonation is required, for each account too. They keep metadata only: data is read as the
 * account of each deployment.
 */

import type { ObjectRefKind } from "@flotilla/proto";
import { createInformer, type Informer } from "@flotilla/shared/kube/cache";
import {
  configMaps,
  type KubeObject,
  keyOf,
  type Resource,
  secrets,
} from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import { type WatchClient, watchKey } from "../../base/index.ts";
import { onlyMetadata } from "../../observe/index.ts";

export interface WatchedSource {
  readonly kind: ObjectRefKind;
  readonly namespace: string;
  readonly name: string;
  readonly client: WatchClient;
}

export interface SourceWatches {
  /**
   * Replaces the objects that `follower` follows. Resolves when every later change is reported, or when the objects cannot be
   * watched; they can still be read.
   */
  follow(follower: string, objects: readonly WatchedSource[]): Promise<void>;
  /** Ends all watches; resolves when they have ended. */
  end(): Promise<void>;
}

export interface SourceWatchesDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly onChange: (followers: ReadonlySet<string>) => void;
}

interface Watch {
  readonly informer: Informer<KubeObject>;
  readonly stop: AbortController;
  /** By the key of the object. */
  readonly followers: Map<string, Set<string>>;
  /** Resolves after the first list, successful or not. */
  readonly listed: Promise<void>;
}

/** Excludes Helm's release Secrets. */
const noReleaseSecrets = "type!=helm.sh/release.v1";

export function createSourceWatches(deps: SourceWatchesDeps): SourceWatches {
  const watches = new Map<string, Watch>();
  const followed = new Map<string, readonly WatchedSource[]>();
  const running = new Set<Promise<void>>();

  function watchOf(object: WatchedSource): Watch {
    const key = keyOfWatch(object);
    const known = watches.get(key);
    if (known !== undefined) return known;
    const fresh = startWatch(object);
    watches.set(key, fresh);
    return fresh;
  }

  function startWatch({ kind, namespace, client }: WatchedSource): Watch {
    const listed = Promise.withResolvers<void>();
    const followers = new Map<string, Set<string>>();
    let cannotList = false;
    const resource: Resource<KubeObject> = kind === "Secret" ? secrets : configMaps;
    const informer = createInformer<KubeObject>({
      rest: client.rest,
      resource,
      namespace,
      ...(kind === "Secret" && { fieldSelector: noReleaseSecrets }),
      clock: deps.clock,
      log: deps.log.child({ cache: resource.plural, namespace }),
      transform: onlyMetadata,
      onListed(failure) {
        const couldNotList = cannotList;
        cannotList = failure !== undefined;
        if (couldNotList && !cannotList)
          deps.onChange(new Set([...followers.values()].flatMap((names) => [...names])));
        listed.resolve();
      },
    });
    informer.onChange(({ key }) => {
      // Objects of the first list are read after it.
      const affected = informer.hasSynced ? followers.get(key) : undefined;
      if (affected !== undefined) deps.onChange(new Set(affected));
    });
    const stop = new AbortController();
    const run = informer.run(stop.signal).finally(() => {
      listed.resolve();
      running.delete(run);
    });
    running.add(run);
    return { informer, stop, followers, listed: listed.promise };
  }

  function unfollow(follower: string, object: WatchedSource): void {
    const key = keyOfWatch(object);
    const watch = watches.get(key);
    const others = watch?.followers.get(keyOf(object));
    others?.delete(follower);
    if (others?.size === 0) watch?.followers.delete(keyOf(object));
    if (watch?.followers.size !== 0) return;
    watch.stop.abort();
    watches.delete(key);
  }

  return {
    async follow(follower, objects) {
      const before = followed.get(follower) ?? [];
      if (objects.length === 0) followed.delete(follower);
      else followed.set(follower, objects);
      for (const object of objects) {
        const { followers } = watchOf(object);
        const key = keyOf(object);
        followers.set(key, (followers.get(key) ?? new Set()).add(follower));
      }
      for (const object of before) {
        if (!objects.some((other) => isSame(other, object))) unfollow(follower, object);
      }
      await Promise.all(objects.map((object) => watchOf(object).listed));
    },
    async end() {
      for (const { stop } of watches.values()) stop.abort();
      await Promise.all(running);
    },
  };
}

/** The namespace is a part of it in any case: no watch is for all namespaces. */
function keyOfWatch({ kind, namespace, client }: WatchedSource): string {
  return `${watchKey(client, namespace)} ${kind}/${namespace}`;
}

function isSame(a: WatchedSource, b: WatchedSource): boolean {
  return keyOfWatch(a) === keyOfWatch(b) && a.name === b.name;
}
