/** Tracks the readiness of one release: finds the kinds of its objects, follows them, and computes the readiness at each change. */
import { isDeepStrictEqual } from "node:util";
import { backoffDelayMs } from "@flotilla/shared/concurrency";
import type { HealthCheck } from "@flotilla/shared/content";
import { messageOf } from "@flotilla/shared/errors";
import { type KubeObject, keyOf, type Resource } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import type { Clock, Timer } from "@flotilla/shared/time";
import type { WatchClient } from "../../base/index.ts";
import type { OwnedObject } from "../../helm/index.ts";
import type { Discovery } from "./discovery.ts";
import { HealthChecks } from "./health-checks.ts";
import type { IgnoredConditions } from "./ignored-conditions.ts";
import { hasStatus } from "./object-status.ts";
import { type FollowedObject, observe } from "./observations.ts";
import type { PodReasons, Workload } from "./pods/index.ts";
import { type Readiness, toReadiness } from "./readiness.ts";
import { isRemovedByDesign } from "./removed-objects.ts";
import type { TrackedKey } from "./shared-objects.ts";
import type { ChangedObject, WatchedKinds } from "./watched-kinds.ts";

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

export interface ReleaseReadinessDeps {
  readonly discovery: Discovery;
  readonly kinds: WatchedKinds;
  readonly pods: Pick<PodReasons, "follow" | "reasonOf">;
  /** Runs a task in the background; an error is logged, unless `signal` has aborted. */
  readonly supervise: (work: Promise<void>, signal: AbortSignal) => void;
  /** Called after each discovery with the objects whose kinds are known. */
  readonly onDiscovered: (objects: readonly TrackedKey[]) => void;
  /** Called when the readiness has changed. */
  readonly onChange: () => void;
  readonly clock: Clock;
  readonly log: Log;
}

export interface ReleaseReadinessOptions {
  /** Under which the watches and the reads of pods know it. */
  readonly name: string;
  readonly objects: readonly OwnedObject[];
  readonly release: TrackedRelease;
}

/** Between discoveries of a missing kind. */
const discoveryBackoff = { firstMs: 1_000, longestMs: 60_000 };

export class ReleaseReadiness {
  readonly #deps: ReleaseReadinessDeps;
  readonly #name: string;
  readonly #objects: readonly OwnedObject[];
  readonly #release: TrackedRelease;
  readonly #checks: HealthChecks;
  readonly #followed = new Map<OwnedObject, FollowedObject>();
  /** Why a kind was not discovered. */
  readonly #obstacles = new Map<OwnedObject, string>();
  readonly #dropped = new AbortController();
  /** Discovery was tried for every kind. */
  #isDiscovered = false;
  /** Reads in progress. */
  #reading = 0;
  #discoveries = 0;
  #discoveryTimer: Timer | undefined;
  #checksTimer: Timer | undefined;
  #last: Readiness | undefined;

  constructor(deps: ReleaseReadinessDeps, { name, objects, release }: ReleaseReadinessOptions) {
    this.#deps = deps;
    this.#name = name;
    this.#objects = objects;
    this.#release = release;
    this.#checks = new HealthChecks(release.healthChecks ?? [], deps.clock);
  }

  /** Undefined until every object was read once. */
  get readiness(): Readiness | undefined {
    return this.#last;
  }

  /** The objects that can be read, once all were read. */
  get objects(): readonly TrackedObject[] {
    const { kinds, clock } = this.#deps;
    if (this.#last === undefined) return [];
    return [...this.#followed].flatMap(([owned, object]) =>
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
  }

  /** The objects of the release that are the one that has changed; a manifest may have it twice. */
  ownedBy({ resource, key }: ChangedObject): readonly OwnedObject[] {
    return [...this.#followed].flatMap(([owned, object]) =>
      object.key === key && isSameKind(object.resource, resource) ? [owned] : [],
    );
  }

  /** Begins, in the background. `onFollowed`: called when all objects are followed whose kinds were found at once. */
  start(onFollowed: () => void): void {
    this.#deps.supervise(this.#discover().then(onFollowed), this.#dropped.signal);
  }

  /** Computes the readiness, and reports it if it has changed. */
  update(): void {
    const { kinds, pods, supervise, onChange, clock } = this.#deps;
    const { signal } = this.#dropped;
    if (!this.#isDiscovered || signal.aborted) return;
    const { namespace, client, ignoredConditions = [] } = this.#release;
    const release = {
      objects: this.#objects,
      followed: this.#followed,
      obstacles: this.#obstacles,
    };
    const { observations, unread, isComplete } = observe(release, kinds, clock.now());
    for (const object of unread) supervise(this.#read(object), signal);
    if (!isComplete) return;
    const workloads: Workload[] = [];
    const readiness = toReadiness(observations, {
      namespace,
      checks: this.#checks,
      ignoredConditions,
      reasonOf: (workload) => {
        workloads.push(workload);
        return pods.reasonOf(this.#name, workload);
      },
    });
    pods.follow(this.#name, workloads, client);
    this.#continueChecks();
    if (isDeepStrictEqual(readiness, this.#last)) return;
    this.#last = readiness;
    onChange();
  }

  /** Ends what runs for it. Kinds without followers are watched until they are pruned. */
  drop(): void {
    const { kinds, pods } = this.#deps;
    this.#discoveryTimer?.cancel();
    this.#checksTimer?.cancel();
    this.#dropped.abort();
    pods.follow(this.#name, [], this.#release.client);
    for (const object of this.#followed.values()) kinds.unfollow(object, this.#name);
  }

  /** Follows the objects whose kinds the cluster has; the others are looked for again later. */
  async #discover(): Promise<void> {
    const { discovery, kinds, clock, supervise, onDiscovered } = this.#deps;
    const { signal } = this.#dropped;
    const missing = this.#objects.filter((owned) => !this.#followed.has(owned));
    await Promise.all(
      missing.map(async (owned) => {
        const found = await discovery.find(owned.apiVersion, owned.kind, signal);
        if (signal.aborted) return;
        if (found.kind === "not found") {
          this.#obstacles.set(owned, found.why);
          return;
        }
        const object = toFollowed(owned, found.resource, {
          ...this.#release,
          checks: this.#checks,
        });
        this.#obstacles.delete(owned);
        this.#followed.set(owned, object);
        kinds.follow(object, this.#name);
      }),
    );
    if (signal.aborted) return;
    this.#isDiscovered = true;
    onDiscovered(
      [...this.#followed].map(([owned, { resource, key }]) => ({ owned, resource, key })),
    );
    if (this.#obstacles.size > 0) {
      this.#discoveries += 1;
      this.#discoveryTimer = clock.setTimeout(
        () => supervise(this.#discover(), signal),
        backoffDelayMs(discoveryBackoff, this.#discoveries),
      );
    }
    this.update();
  }

  /** Reads an object into the cache; see ReadStage. */
  async #read(object: FollowedObject): Promise<void> {
    const { kinds, log } = this.#deps;
    const { signal } = this.#dropped;
    object.stage = "reading";
    this.#reading += 1;
    try {
      await kinds.read(object, signal);
    } catch (thrown) {
      if (signal.aborted) return;
      log.debug(
        { key: object.key, err: messageOf(thrown) },
        "could not read the object, waiting for the watch",
      );
    }
    object.stage = "read";
    this.#reading -= 1;
    if (this.#reading === 0) this.update();
  }

  /** Objects whose expressions were not evaluated yet follow. */
  #continueChecks(): void {
    const { clock } = this.#deps;
    const until = this.#checks.takeDeferral();
    if (until === undefined || this.#checksTimer !== undefined) return;
    this.#checksTimer = clock.setTimeout(() => {
      this.#checksTimer = undefined;
      this.update();
    }, until - clock.now());
  }
}

function toFollowed(
  owned: OwnedObject,
  resource: Resource<KubeObject>,
  {
    namespace: releaseNamespace,
    client: own,
    checks,
  }: Pick<TrackedRelease, "namespace" | "client"> & { readonly checks: Pick<HealthChecks, "has"> },
): FollowedObject {
  const { name, namespace = releaseNamespace } = owned;
  const ref = resource.namespaced ? { namespace, name } : { name };
  const isWhole = checks.has(resource);
  const stage = isWhole || hasStatus(resource.group, resource.kind) ? "unread" : "read";
  // Only of one namespace: whole objects of all could exceed the agent's memory.
  const client = isWhole ? { ...own, isPerNamespace: true } : own;
  return { resource, key: keyOf(ref), client, isWhole, stage };
}

function isSameKind(a: Resource<KubeObject>, b: Resource<KubeObject>): boolean {
  return a.group === b.group && a.version === b.version && a.plural === b.plural;
}
