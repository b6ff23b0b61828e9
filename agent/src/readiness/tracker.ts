/**
 * How the objects of releases are, followed by watching them. A change is told at once, and only to the releases that own
 * what changed.
 */
import { isDeepStrictEqual } from "node:util";
import { messageOf } from "@flotilla/shared/errors/app-error.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import { keyOf } from "@flotilla/shared/kube/objects/object.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import type { Clock, Timer } from "@flotilla/shared/time/clock.ts";
import { createDiscovery } from "./discovery.ts";
import type { OwnedObject } from "./manifest.ts";
import { hasStatus } from "./object-status.ts";
import { type Readiness, type Seen, toReadiness } from "./readiness.ts";
import { createWatchedKinds, type WatchedObject } from "./watched-kinds.ts";

export interface ReadinessTracker {
  /** Follows these objects from now on, instead of what was followed under this name. */
  track(name: string, objects: readonly OwnedObject[], namespace: string): void;
  forget(name: string): void;
  /** Undefined until every object has been looked at once. */
  readinessOf(name: string): Readiness | undefined;
  /** Told the names whose readiness is another one now. */
  onChange(listener: (name: string) => void): void;
  /** Resolves when `signal` aborted and nothing is under way any more. */
  run(signal: AbortSignal): Promise<void>;
}

export interface ReadinessDeps {
  readonly rest: KubeRest;
  readonly clock: Clock;
  readonly log: Log;
}

/** A kind that was not found is looked for again after this long, doubling up to `longestLookMs`. */
const firstLookMs = 1_000;
const longestLookMs = 60_000;

/** One object of a release, once it is known where its kind lives. */
interface Followed extends WatchedObject {
  /** The watch alone is not believed before the object itself was read. */
  stage: "unread" | "reading" | "read";
}

interface Tracked {
  readonly objects: readonly OwnedObject[];
  readonly namespace: string;
  readonly followed: Map<OwnedObject, Followed>;
  /** Why an object is not followed. */
  readonly obstacles: Map<OwnedObject, string>;
  readonly dropped: AbortController;
  /** Not before every kind has been looked for. */
  isResolved: boolean;
  /** How many objects are being read. */
  reading: number;
  looks: number;
  timer: Timer | undefined;
  last: Readiness | undefined;
}

export function createReadinessTracker({ rest, clock, log }: ReadinessDeps): ReadinessTracker {
  const discovery = createDiscovery(rest);
  const kinds = createWatchedKinds({
    rest,
    clock,
    log,
    onChange: (names) => {
      for (const name of names) look(name);
    },
  });
  const releases = new Map<string, Tracked>();
  const listeners: ((name: string) => void)[] = [];
  const tasks = new Set<Promise<void>>();

  /** What fails in the background is told, and ends nothing else. */
  function supervise(name: string, { dropped }: Tracked, work: Promise<void>): void {
    const task = work
      .catch((thrown: unknown) => {
        if (dropped.signal.aborted) return;
        log.error({ release: name, err: messageOf(thrown) }, "readiness could not be followed");
      })
      .finally(() => tasks.delete(task));
    tasks.add(task);
  }

  async function resolve(name: string, tracked: Tracked): Promise<void> {
    const { objects, followed, obstacles, dropped } = tracked;
    const unplaced = objects.filter((owned) => !followed.has(owned));
    await Promise.all(
      unplaced.map(async (owned) => {
        const found = await discovery.find(owned.apiVersion, owned.kind, dropped.signal);
        if (dropped.signal.aborted) return;
        if (found.kind === "not found") {
          obstacles.set(owned, found.why);
          return;
        }
        const { resource } = found;
        const ref = resource.namespaced
          ? { namespace: owned.namespace ?? tracked.namespace, name: owned.name }
          : { name: owned.name };
        const stage = hasStatus(resource.group, resource.kind) ? "unread" : "read";
        const object: Followed = { resource, key: keyOf(ref), stage };
        obstacles.delete(owned);
        followed.set(owned, object);
        kinds.follow(object, name);
      }),
    );
    if (dropped.signal.aborted) return;
    tracked.isResolved = true;
    if (obstacles.size > 0) {
      const delayMs = Math.min(longestLookMs, firstLookMs * 2 ** tracked.looks);
      tracked.looks += 1;
      tracked.timer = clock.setTimeout(
        () => supervise(name, tracked, resolve(name, tracked)),
        delayMs,
      );
    }
    look(name);
  }

  /**
   * Reads a workload itself, as Helm has just left it: the watch may be some milliseconds behind, and what it still
   * shows would be the earlier one, which was ready.
   */
  async function read(name: string, tracked: Tracked, object: Followed): Promise<void> {
    object.stage = "reading";
    tracked.reading += 1;
    try {
      await kinds.read(object, tracked.dropped.signal);
    } catch (thrown) {
      if (tracked.dropped.signal.aborted) return;
      log.debug(
        { key: object.key, err: messageOf(thrown) },
        "object was not read, the watch will tell it",
      );
    }
    object.stage = "read";
    tracked.reading -= 1;
    if (tracked.reading === 0) look(name);
  }

  /** Judges a release anew and tells when the outcome is another one. */
  function look(name: string): void {
    const tracked = releases.get(name);
    if (tracked === undefined || !tracked.isResolved) return;
    const seen: Seen[] = [];
    let isComplete = true;
    for (const owned of tracked.objects) {
      const object = tracked.followed.get(owned);
      if (object === undefined) {
        seen.push({ kind: "hidden", owned, why: tracked.obstacles.get(owned) ?? "" });
        continue;
      }
      const sight = kinds.sightOf(object);
      if (sight.kind === "refused") {
        seen.push({ kind: "hidden", owned, why: sight.why });
        continue;
      }
      // Not beside the first list, which has it.
      if (sight.kind === "open" && object.stage === "unread")
        supervise(name, tracked, read(name, tracked, object));
      isComplete &&= sight.kind === "open" && object.stage === "read";
      const { resource } = object;
      seen.push({ kind: "shown", owned, resource, object: kinds.get(object) });
    }
    if (!isComplete) return;
    const readiness = toReadiness(seen, tracked.namespace);
    if (isDeepStrictEqual(readiness, tracked.last)) return;
    tracked.last = readiness;
    for (const listener of listeners) listener(name);
  }

  function drop(name: string): void {
    const tracked = releases.get(name);
    if (tracked === undefined) return;
    tracked.timer?.cancel();
    tracked.dropped.abort();
    releases.delete(name);
    for (const object of tracked.followed.values()) kinds.leave(object, name);
  }

  return {
    track(name, objects, namespace) {
      drop(name);
      const tracked: Tracked = {
        objects,
        namespace,
        followed: new Map(),
        obstacles: new Map(),
        dropped: new AbortController(),
        isResolved: false,
        reading: 0,
        looks: 0,
        timer: undefined,
        last: undefined,
      };
      releases.set(name, tracked);
      supervise(name, tracked, resolve(name, tracked).then(kinds.prune));
    },
    forget(name) {
      drop(name);
      kinds.prune();
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
      for (const name of [...releases.keys()]) drop(name);
      await kinds.end();
      await Promise.all(tasks);
    },
  };
}
