/**
 * ConfigMaps and Secrets of the cluster that deployments take values from: whoever follows one is told when it comes,
 * changes or goes. They are watched as the agent, a namespace and a kind at a time, and none of what they hold is kept:
 * what a deployment may read of them is for its own account to say.
 */

import type { SupplyKind } from "@flotilla/proto/messages.ts";
import { createInformer, type Informer } from "@flotilla/shared/kube/cache/informer.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import { configMaps, secrets } from "@flotilla/shared/kube/objects/core-resources.ts";
import { type KubeObject, keyOf, type Resource } from "@flotilla/shared/kube/objects/object.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import type { Clock } from "@flotilla/shared/time/clock.ts";
import { onlyMetadata } from "../readiness/slim-object.ts";

export interface WatchedObject {
  readonly kind: SupplyKind;
  readonly namespace: string;
  readonly name: string;
}

export interface WatchedObjects {
  /**
   * From now on this is all that `follower` follows. Resolves once every later change will be told; also where they
   * cannot be watched, since they can be read all the same.
   */
  follow(follower: string, objects: readonly WatchedObject[]): Promise<void>;
  /** Ends every watch; resolves when they have ended. */
  end(): Promise<void>;
}

export interface WatchedObjectsDeps {
  readonly rest: KubeRest;
  readonly clock: Clock;
  readonly log: Log;
  readonly onChange: (followers: ReadonlySet<string>) => void;
}

interface Watch {
  readonly informer: Informer<KubeObject>;
  readonly stop: AbortController;
  /** By the key of the object. */
  readonly followers: Map<string, Set<string>>;
  /** Resolves when it was listed, or could not be. */
  readonly tried: Promise<void>;
}

/** Helm keeps a Secret for every revision, which is nobody's values. */
const otherThanReleases = "type!=helm.sh/release.v1";

export function createWatchedObjects(deps: WatchedObjectsDeps): WatchedObjects {
  const watches = new Map<string, Watch>();
  const followed = new Map<string, readonly WatchedObject[]>();
  const running = new Set<Promise<void>>();

  function watchOf(object: WatchedObject): Watch {
    const key = watchKey(object);
    const known = watches.get(key);
    if (known !== undefined) return known;
    const fresh = startWatch(object);
    watches.set(key, fresh);
    return fresh;
  }

  function startWatch({ kind, namespace }: WatchedObject): Watch {
    const tried = Promise.withResolvers<void>();
    const followers = new Map<string, Set<string>>();
    let isBlind = false;
    const resource: Resource<KubeObject> = kind === "Secret" ? secrets : configMaps;
    const informer = createInformer<KubeObject>({
      rest: deps.rest,
      resource,
      namespace,
      ...(kind === "Secret" && { fieldSelector: otherThanReleases }),
      clock: deps.clock,
      log: deps.log.child({ cache: resource.plural, namespace }),
      transform: onlyMetadata,
      onListed(failure) {
        const couldNotSee = isBlind;
        isBlind = failure !== undefined;
        if (couldNotSee && !isBlind)
          deps.onChange(new Set([...followers.values()].flatMap((names) => [...names])));
        tried.resolve();
      },
    });
    informer.onChange(({ key }) => {
      // What is there when the watch begins is read after that.
      const told = informer.hasSynced ? followers.get(key) : undefined;
      if (told !== undefined) deps.onChange(new Set(told));
    });
    const stop = new AbortController();
    const run = informer.run(stop.signal).finally(() => {
      tried.resolve();
      running.delete(run);
    });
    running.add(run);
    return { informer, stop, followers, tried: tried.promise };
  }

  function leave(follower: string, object: WatchedObject): void {
    const key = watchKey(object);
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
        if (!objects.some((other) => isSame(other, object))) leave(follower, object);
      }
      await Promise.all(objects.map((object) => watchOf(object).tried));
    },
    async end() {
      for (const { stop } of watches.values()) stop.abort();
      await Promise.all(running);
    },
  };
}

function watchKey({ kind, namespace }: WatchedObject): string {
  return `${kind}/${namespace}`;
}

function isSame(a: WatchedObject, b: WatchedObject): boolean {
  return a.kind === b.kind && a.namespace === b.namespace && a.name === b.name;
}
