/**
 * Tracks the readiness of releases by watching their objects. A change is reported at once, and only for the releases that own
 * the object.
 */
import { isDeepStrictEqual } from "node:util";
import { backoffDelayMs, untilAborted } from "@flotilla/shared/concurrency";
import type { HealthCheck } from "@flotilla/shared/content";
import { messageOf } from "@flotilla/shared/errors";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { type KubeObject, keyOf, type Resource } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import type { Clock, Timer } from "@flotilla/shared/time";
import type { WatchClient } from "../../base/index.ts";
import type { OwnedObject } from "../../helm/index.ts";
import { createDiscovery } from "./discovery.ts";
import { createHealthChecks, type HealthChecks } from "./health-checks.ts";
import type { IgnoredConditions } from "./ignored-conditions.ts";
import { hasStatus } from "./object-status.ts";
import { createPodReasons, type Workload } from "./pods/index.ts";
import { type Observation, type Readiness, toReadiness } from "./readiness.ts";
import { isRemovedByDesign } from "./removed-objects.ts";
import { createSharedObjects, type SharedObject, type TrackedKey } from "./shared-objects.ts";
import {
  type ChangedObject,
  createWatchedKinds,
  type WatchedKinds,
  type WatchedObject,
} from "./watched-kinds.ts";

export interface ReadinessTracker {
  /** Replaces the objects that are tracked under this name. */
  track(name: string, objects: readonly OwnedObject[], release: TrackedRelease): void;
  forget(name: string): void;
  /** Undefined until every object was read once. */
  readinessOf(name: string): Readiness | undefined;
  /** The objects that other tracked releases have as well, once the kinds of all were discovered. */
  sharedObjectsOf(name: string): readonly SharedObject[];
  /** Called with a name whose readiness or whose shared objects have changed. */
  onChange(listener: (name: string) => void): void;
  /** The objects that can be read, once all were read. */
  objectsOf(name: string): readonly TrackedObject[];
  /** Called with an object of a release of which more than the status has changed, or that was created or deleted. */
  onContentChange(listener: (name: string, object: OwnedObject) => void): void;
  /** Resolves when `signal` has aborted and all tasks have ended. */
  run(signal: AbortSignal): Promise<void>;
}

export interface TrackedObject {
  readonly owned: OwnedObject;
  readonly resource: Resource<KubeObject>;
  /** Whether it is not missing if it does not exist: Kubernetes deletes it by itself, by what is known now. */
  readonly isRemovedByDesign: () => boolean;
}

export interface TrackedRelease {
  /** The namespace of objects that name none. */
  readonly namespace: string;
  /** Reads and watches the objects. */
  readonly client: WatchClient;
  /** They take precedence over the rules for the kinds; absent: none. */
  readonly healthChecks?: readonly HealthCheck[] | undefined;
  /** Absent: none. */
  readonly ignoredConditions?: IgnoredConditions;
}

export interface ReadinessDeps {
  /** For discovery. */
  readonly rest: KubeRest;
  readonly clock: Clock;
  readonly log: Log;
}

/** Between discoveries of a missing kind. */
const discoveryBackoff = { firstMs: 1_000, longestMs: 60_000 };

/** An object of a release whose kind was discovered. */
interface Followed extends WatchedObject {
  /** The cache is not used before the object itself was read. */
  stage: "unread" | "reading" | "read";
}

interface Tracked extends Omit<Required<TrackedRelease>, "healthChecks"> {
  readonly checks: HealthChecks;
  readonly objects: readonly OwnedObject[];
  readonly followed: Map<OwnedObject, Followed>;
  /** Why a kind was not discovered. */
  readonly obstacles: Map<OwnedObject, string>;
  readonly dropped: AbortController;
  /** Discovery was tried for every kind. */
  isResolved: boolean;
  /** Reads in progress. */
  reading: number;
  discoveries: number;
  timer: Timer | undefined;
  checksTimer: Timer | undefined;
  last: Readiness | undefined;
}

export function createReadinessTracker({ rest, clock, log }: ReadinessDeps): ReadinessTracker {
  const discovery = createDiscovery(rest, clock);
  const onChange = (names: ReadonlySet<string>): void => [...names].forEach(update);
  const kinds = createWatchedKinds({ clock, log, onChange, onContentChange });
  const pods = createPodReasons({ clock, log, onChange: update });
  const releases = new Map<string, Tracked>();
  const listeners: ((name: string) => void)[] = [];
  const contentListeners: ((name: string, object: OwnedObject) => void)[] = [];
  const tasks = new Set<Promise<void>>();
  const shared = createSharedObjects();

  /** Runs a background task; an error is logged. */
  function supervise(name: string, { dropped }: Tracked, work: Promise<void>): void {
    const task = work
      .catch((thrown: unknown) => {
        if (dropped.signal.aborted) return;
        log.error({ release: name, err: messageOf(thrown) }, "readiness tracking failed");
      })
      .finally(() => tasks.delete(task));
    tasks.add(task);
  }

  async function resolve(name: string, tracked: Tracked): Promise<void> {
    const { objects, followed, obstacles, dropped } = tracked;
    const missing = objects.filter((owned) => !followed.has(owned));
    await Promise.all(
      missing.map(async (owned) => {
        const found = await discovery.find(owned.apiVersion, owned.kind, dropped.signal);
        if (dropped.signal.aborted) return;
        if (found.kind === "not found") {
          obstacles.set(owned, found.why);
          return;
        }
        const object = toFollowed(owned, found.resource, tracked);
        obstacles.delete(owned);
        followed.set(owned, object);
        kinds.follow(object, name);
      }),
    );
    if (dropped.signal.aborted) return;
    tracked.isResolved = true;
    share(
      name,
      [...followed].map(([owned, { resource, key }]) => ({ owned, resource, key })),
    );
    if (obstacles.size > 0) {
      tracked.discoveries += 1;
      const delayMs = backoffDelayMs(discoveryBackoff, tracked.discoveries);
      tracked.timer = clock.setTimeout(
        () => supervise(name, tracked, resolve(name, tracked)),
        delayMs,
      );
    }
    update(name);
  }

  function share(name: string, objects: readonly TrackedKey[]): void {
    for (const other of shared.set(name, objects))
      for (const listener of listeners) listener(other);
  }

  /**
   * Reads a workload itself after Helm has changed it: the watch may be some milliseconds behind, and its cache may still
   * have the earlier object, which was ready.
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
        "could not read the object, waiting for the watch",
      );
    }
    object.stage = "read";
    tracked.reading -= 1;
    if (tracked.reading === 0) update(name);
  }

  function onContentChange({ resource, key }: ChangedObject, names: ReadonlySet<string>): void {
    for (const name of names) {
      for (const [owned, object] of releases.get(name)?.followed ?? [])
        if (object.key === key && isSameKind(object.resource, resource))
          for (const listener of contentListeners) listener(name, owned);
    }
  }

  /** Computes the readiness of a release, and reports it if it has changed. */
  function update(name: string): void {
    const tracked = releases.get(name);
    if (tracked === undefined || !tracked.isResolved) return;
    const { observations, unread, isComplete } = observe(tracked, kinds, clock.now());
    for (const object of unread) supervise(name, tracked, read(name, tracked, object));
    if (!isComplete) return;
    const workloads: Workload[] = [];
    const readiness = toReadiness(observations, {
      ...tracked,
      reasonOf(workload) {
        workloads.push(workload);
        return pods.reasonOf(name, workload);
      },
    });
    pods.follow(name, workloads, tracked.client);
    continueChecks(name, tracked);
    if (isDeepStrictEqual(readiness, tracked.last)) return;
    tracked.last = readiness;
    for (const listener of listeners) listener(name);
  }

  /** Objects whose expressions were not evaluated yet follow. */
  function continueChecks(name: string, tracked: Tracked): void {
    const until = tracked.checks.takeDeferral();
    if (until === undefined || tracked.checksTimer !== undefined) return;
    tracked.checksTimer = clock.setTimeout(() => {
      tracked.checksTimer = undefined;
      update(name);
    }, until - clock.now());
  }

  function drop(name: string): void {
    const tracked = releases.get(name);
    if (tracked === undefined) return;
    tracked.timer?.cancel();
    tracked.checksTimer?.cancel();
    tracked.dropped.abort();
    releases.delete(name);
    pods.follow(name, [], tracked.client);
    for (const object of tracked.followed.values()) kinds.unfollow(object, name);
  }

  return {
    track(name, objects, release) {
      drop(name);
      const tracked = newTracked(objects, release, clock);
      releases.set(name, tracked);
      supervise(name, tracked, resolve(name, tracked).then(kinds.prune));
    },
    forget(name) {
      drop(name);
      share(name, []);
      kinds.prune();
    },
    readinessOf: (name) => releases.get(name)?.last,
    sharedObjectsOf: shared.of,
    onChange(listener) {
      listeners.push(listener);
    },
    objectsOf(name) {
      const tracked = releases.get(name);
      if (tracked?.last === undefined) return [];
      return [...tracked.followed].flatMap(([owned, object]) =>
        kinds.visibilityOf(object).kind === "denied"
          ? []
          : [
              {
                owned,
                resource: object.resource,
                isRemovedByDesign: () =>
                  isRemovedByDesign(owned, kinds.lastSeenOf(object), clock.now()),
              },
            ],
      );
    },
    onContentChange(listener) {
      contentListeners.push(listener);
    },
    async run(signal) {
      await untilAborted(signal);
      for (const name of [...releases.keys()]) drop(name);
      await Promise.all([kinds.end(), pods.end()]);
      await Promise.all(tasks);
    },
  };
}

function toFollowed(
  owned: OwnedObject,
  resource: Resource<KubeObject>,
  release: Pick<Tracked, "namespace" | "client" | "checks">,
): Followed {
  const { name, namespace = release.namespace } = owned;
  const ref = resource.namespaced ? { namespace, name } : { name };
  const isWhole = release.checks.has(resource);
  const stage = isWhole || hasStatus(resource.group, resource.kind) ? "unread" : "read";
  // Only of one namespace: whole objects of all could exceed the agent's memory.
  const client = isWhole ? { ...release.client, isPerNamespace: true } : release.client;
  return { resource, key: keyOf(ref), client, isWhole, stage };
}

function isSameKind(a: Resource<KubeObject>, b: Resource<KubeObject>): boolean {
  return a.group === b.group && a.version === b.version && a.plural === b.plural;
}

function newTracked(
  objects: readonly OwnedObject[],
  { namespace, client, healthChecks = [], ignoredConditions = [] }: TrackedRelease,
  clock: Clock,
): Tracked {
  return {
    objects,
    namespace,
    client,
    ignoredConditions,
    checks: createHealthChecks(healthChecks, clock),
    followed: new Map(),
    obstacles: new Map(),
    dropped: new AbortController(),
    isResolved: false,
    reading: 0,
    discoveries: 0,
    timer: undefined,
    checksTimer: undefined,
    last: undefined,
  };
}

interface Observed {
  readonly observations: readonly Observation[];
  /** Workloads that must be read first. */
  readonly unread: readonly Followed[];
  /** All observations are up to date. */
  readonly isComplete: boolean;
}

function observe(tracked: Tracked, kinds: WatchedKinds, nowMs: number): Observed {
  const observations: Observation[] = [];
  const unread: Followed[] = [];
  let isComplete = true;
  for (const owned of tracked.objects) {
    const object = tracked.followed.get(owned);
    if (object === undefined) {
      observations.push({ kind: "unknown", owned, why: tracked.obstacles.get(owned) ?? "" });
      continue;
    }
    const visibility = kinds.visibilityOf(object);
    if (visibility.kind === "denied") {
      observations.push({ kind: "unknown", owned, why: visibility.why });
      continue;
    }
    const isListed = visibility.kind === "listed";
    // Not during the first list, which includes it.
    if (isListed && object.stage === "unread") unread.push(object);
    isComplete &&= isListed && object.stage === "read";
    const { resource } = object;
    observations.push({
      kind: "known",
      owned,
      resource,
      object: kinds.get(object),
      isRemoved: isRemovedByDesign(owned, kinds.lastSeenOf(object), nowMs),
    });
  }
  return { observations, unread, isComplete };
}
