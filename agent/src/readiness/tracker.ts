/**
 * How the objects of releases are, followed by watching them. One watch for each kind, shared by all releases that have
 * objects of it; a change is told at once, and only to the releases that own what changed.
 */

import { isDeepStrictEqual } from "node:util";
import type { ResourceState, ResourceTally } from "@flotilla/proto/messages.ts";
import type { Clock, Timer } from "@flotilla/shared/clock/clock.ts";
import { messageOf } from "@flotilla/shared/errors/app-error.ts";
import { createInformer, type Informer } from "@flotilla/shared/kube/informer.ts";
import {
  type KubeObject,
  keyOf,
  type ObjectKey,
  type Resource,
  refOf,
} from "@flotilla/shared/kube/object.ts";
import type { KubeRest } from "@flotilla/shared/kube/rest.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import { createDiscovery } from "./discovery.ts";
import type { OwnedObject } from "./manifest.ts";
import { hasStatus, statusOf } from "./object-status.ts";
import { onlyMetadata, slimObject } from "./slim-object.ts";

/** How all objects of one release are. */
export interface Readiness {
  readonly ready: boolean;
  /** The first few that are not, in a stable order. */
  readonly notReady: readonly ResourceState[];
  readonly counts: ResourceTally;
}

export interface ReadinessTracker {
  /** Follows these objects from now on, instead of what was followed under this name. */
  track(name: string, objects: readonly OwnedObject[], namespace: string): void;
  forget(name: string): void;
  /** Undefined until every object has been looked at once. */
  readinessOf(name: string): Readiness | undefined;
  /** Told the names whose readiness is another one now. */
  onChange(listener: (name: string) => void): void;
  /** Resolves when `signal` aborted and every watch has ended. */
  run(signal: AbortSignal): Promise<void>;
}

export interface ReadinessDeps {
  readonly rest: KubeRest;
  readonly clock: Clock;
  readonly log: Log;
}

const listedAtMost = 10;

/** A kind that the cluster does not have yet is looked for again after this long, doubling up to `longestLookMs`. */
const firstLookMs = 1_000;
const longestLookMs = 60_000;

/** One kind that is watched. */
interface Watched {
  readonly informer: Informer<KubeObject>;
  /** Names of releases by the key of an object that they own. */
  readonly owners: Map<ObjectKey, Set<string>>;
  readonly stop: AbortController;
}

/** One object of a release, once it is known where its kind lives. */
interface Followed {
  readonly owned: OwnedObject;
  readonly resource: Resource<KubeObject>;
  readonly key: ObjectKey;
}

interface Tracked {
  readonly objects: readonly OwnedObject[];
  readonly namespace: string;
  readonly followed: Map<OwnedObject, Followed>;
  /** Not before every kind has been looked for. */
  isResolved: boolean;
  looks: number;
  timer: Timer | undefined;
  last: Readiness | undefined;
}

export function createReadinessTracker({ rest, clock, log }: ReadinessDeps): ReadinessTracker {
  const discovery = createDiscovery(rest);
  const releases = new Map<string, Tracked>();
  const kinds = new Map<string, Watched>();
  const listeners: ((name: string) => void)[] = [];
  const ending = new AbortController();
  const running = new Set<Promise<void>>();

  function kindKey({ group, version, plural }: Resource<KubeObject>): string {
    return `${group}/${version}/${plural}`;
  }

  function watch(resource: Resource<KubeObject>): Watched {
    const known = kinds.get(kindKey(resource));
    if (known !== undefined) return known;
    const informer = createInformer<KubeObject>({
      rest,
      resource,
      log: log.child({ cache: resource.plural }),
      transform: hasStatus(resource.group, resource.kind) ? slimObject : onlyMetadata,
    });
    const watched: Watched = { informer, owners: new Map(), stop: new AbortController() };
    kinds.set(kindKey(resource), watched);
    informer.onChange(({ key }) => {
      for (const name of watched.owners.get(key) ?? []) look(name);
    });
    informer.synced.then(
      () => {
        for (const name of new Set([...watched.owners.values()].flatMap((names) => [...names])))
          look(name);
      },
      () => undefined,
    );
    const run = informer
      .run(AbortSignal.any([ending.signal, watched.stop.signal]))
      .finally(() => running.delete(run));
    running.add(run);
    return watched;
  }

  async function resolve(name: string, tracked: Tracked): Promise<void> {
    let isMissingKind = false;
    for (const owned of tracked.objects) {
      if (tracked.followed.has(owned)) continue;
      let resource: Resource<KubeObject> | undefined;
      try {
        resource = await discovery.find(owned.apiVersion, owned.kind);
      } catch (thrown) {
        log.warn(
          { kind: `${owned.apiVersion} ${owned.kind}`, err: messageOf(thrown) },
          "kind was not found, it is tried again",
        );
      }
      if (releases.get(name) !== tracked) return;
      if (resource === undefined) {
        isMissingKind = true;
        continue;
      }
      const ref = resource.namespaced
        ? { namespace: owned.namespace ?? tracked.namespace, name: owned.name }
        : { name: owned.name };
      const followed: Followed = { owned, resource, key: keyOf(ref) };
      tracked.followed.set(owned, followed);
      const { owners } = watch(resource);
      owners.set(followed.key, (owners.get(followed.key) ?? new Set()).add(name));
    }
    await Promise.all([...tracked.followed.values()].map(refresh));
    if (releases.get(name) !== tracked) return;
    tracked.isResolved = true;
    if (isMissingKind && !ending.signal.aborted) {
      const delayMs = Math.min(longestLookMs, firstLookMs * 2 ** tracked.looks);
      tracked.looks += 1;
      tracked.timer = clock.setTimeout(() => void resolve(name, tracked), delayMs);
    }
    look(name);
  }

  /**
   * Reads a workload itself, as Helm has just left it: the watch may be some milliseconds behind, and what it still
   * shows would be the earlier one, which was ready.
   */
  async function refresh({ resource, key }: Followed): Promise<void> {
    if (!hasStatus(resource.group, resource.kind)) return;
    try {
      const object = await rest.get(resource, refOf(key));
      if (object !== undefined)
        kinds.get(kindKey(resource))?.informer.store.wrote(slimObject(object));
    } catch (thrown) {
      log.debug({ key, err: messageOf(thrown) }, "object was not read, the watch will tell it");
    }
  }

  /** Judges a release anew and tells when the outcome is another one. */
  function look(name: string): void {
    const tracked = releases.get(name);
    if (tracked === undefined || !tracked.isResolved) return;
    const hasSynced = [...tracked.followed.values()].every(
      ({ resource }) => kinds.get(kindKey(resource))?.informer.hasSynced === true,
    );
    if (!hasSynced) return;
    const readiness = judge(tracked);
    if (isDeepStrictEqual(readiness, tracked.last)) return;
    tracked.last = readiness;
    for (const listener of listeners) listener(name);
  }

  function judge(tracked: Tracked): Readiness {
    const counts = {
      desiredReady: tracked.objects.length,
      ready: 0,
      notReady: 0,
      missing: 0,
      unknown: 0,
    };
    const notReady: ResourceState[] = [];
    for (const owned of tracked.objects) {
      const followed = tracked.followed.get(owned);
      const resource = { ...owned, namespace: owned.namespace ?? tracked.namespace };
      if (followed === undefined) {
        counts.unknown += 1;
        notReady.push({
          ...resource,
          message: "the cluster does not know this kind",
          missing: false,
        });
        continue;
      }
      const object = kinds.get(kindKey(followed.resource))?.informer.store.get(followed.key);
      const { namespace, ...clusterWide } = resource;
      const shown = followed.resource.namespaced ? resource : clusterWide;
      if (object === undefined) {
        counts.missing += 1;
        notReady.push({ ...shown, message: "is not there", missing: true });
        continue;
      }
      const status = statusOf(followed.resource.group, followed.resource.kind, object);
      if (status.kind === "current") counts.ready += 1;
      else {
        counts.notReady += 1;
        notReady.push({ ...shown, message: status.message, missing: false });
      }
    }
    return {
      ready: notReady.length === 0,
      notReady: notReady.sort(byName).slice(0, listedAtMost),
      counts,
    };
  }

  function drop(name: string): void {
    const tracked = releases.get(name);
    if (tracked === undefined) return;
    tracked.timer?.cancel();
    releases.delete(name);
    for (const { resource, key } of tracked.followed.values()) {
      const watched = kinds.get(kindKey(resource));
      const names = watched?.owners.get(key);
      names?.delete(name);
      if (names?.size === 0) watched?.owners.delete(key);
    }
  }

  /** Ends watches that nobody needs any more. */
  function prune(): void {
    for (const [key, watched] of kinds) {
      if (watched.owners.size > 0) continue;
      watched.stop.abort();
      kinds.delete(key);
    }
  }

  return {
    track(name, objects, namespace) {
      drop(name);
      const tracked: Tracked = {
        objects,
        namespace,
        followed: new Map(),
        isResolved: false,
        looks: 0,
        timer: undefined,
        last: undefined,
      };
      releases.set(name, tracked);
      void resolve(name, tracked).then(prune);
    },
    forget(name) {
      drop(name);
      prune();
    },
    readinessOf: (name) => releases.get(name)?.last,
    onChange(listener) {
      listeners.push(listener);
    },
    async run(signal) {
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        else signal.addEventListener("abort", () => resolve(), { once: true });
      });
      for (const { timer } of releases.values()) timer?.cancel();
      ending.abort();
      await Promise.all(running);
    },
  };
}

function byName(a: ResourceState, b: ResourceState): number {
  const [left, right] = [a, b].map(
    ({ kind, namespace, name }) => `${kind} ${namespace ?? ""} ${name}`,
  );
  return (left ?? "") < (right ?? "") ? -1 : 1;
}
