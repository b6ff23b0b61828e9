/**
 * Watches of one kind, each as one account in one namespace, shared by the deployments of that account. They begin with the
 * first of them and end with the last.
 */
import { untilAborted } from "@flotilla/shared/concurrency";
import type { AppError } from "@flotilla/shared/errors";
import type { Change, Informer } from "@flotilla/shared/kube/cache";
import { isForbidden } from "@flotilla/shared/kube/client";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { type WatchClient, watchKey } from "./watch-client.ts";

export interface AccountWatch<T extends KubeObject> {
  readonly client: WatchClient;
  readonly namespace: string;
  readonly informer: Informer<T>;
  /** Deployments. */
  readonly followers: ReadonlySet<string>;
  /** The failure of the last list. */
  readonly failure: AppError | undefined;
}

/** As whom and where objects are watched, and until when. */
export interface WatchScope {
  readonly client: WatchClient;
  readonly namespaces: readonly string[];
  readonly signal: AbortSignal;
}

export interface AccountWatches<T extends KubeObject> {
  get(client: WatchClient, namespace: string): AccountWatch<T> | undefined;
  inNamespace(namespace: string): readonly AccountWatch<T>[];
  /** Makes these the watches of a release. Resolves with them after their first lists, successful or not. */
  observe(id: string, scope: WatchScope): Promise<readonly AccountWatch<T>[]>;
  /** Ends the watches that no other release needs. */
  forget(id: string): void;
  /** Until `signal` aborts and all watches have ended. */
  run(signal: AbortSignal): Promise<void>;
}

export interface AccountWatchesDeps<T extends KubeObject> {
  readonly createInformer: (watch: {
    readonly client: WatchClient;
    readonly namespace: string;
    readonly onListed: (failure?: AppError) => void;
  }) => Informer<T>;
  readonly onChange: (watch: AccountWatch<T>, change: Change<T>) => void;
  /** Called with the releases of a watch that has become usable, or has ceased to be, after its first list. */
  readonly onUsable?: (ids: ReadonlySet<string>) => void;
}

/** While the server is unavailable, what was listed before is still valid. */
export function isUsable({ informer, failure }: AccountWatch<KubeObject>): boolean {
  return informer.hasSynced && !(failure !== undefined && isForbidden(failure));
}

interface Running<T extends KubeObject> extends AccountWatch<T> {
  readonly followers: Set<string>;
  failure: AppError | undefined;
  readonly stop: AbortController;
  readonly attempted: Promise<void>;
}

export function createAccountWatches<T extends KubeObject>(
  deps: AccountWatchesDeps<T>,
): AccountWatches<T> {
  /** By account and namespace. */
  const watches = new Map<string, Running<T>>();
  const byNamespace = new Map<string, Set<Running<T>>>();
  const followed = new Map<string, readonly Running<T>[]>();
  const running = new Set<Promise<void>>();

  function start(client: WatchClient, namespace: string): Running<T> {
    const attempted = Promise.withResolvers<void>();
    let wasListed = false;
    let wasUsable = false;
    const informer = deps.createInformer({
      client,
      namespace,
      onListed(failure) {
        watch.failure = failure;
        const hasChanged = wasListed && wasUsable !== isUsable(watch);
        wasListed = true;
        wasUsable = isUsable(watch);
        attempted.resolve();
        if (hasChanged) deps.onUsable?.(new Set(watch.followers));
      },
    });
    const stop = new AbortController();
    const watch: Running<T> = {
      client,
      namespace,
      informer,
      stop,
      followers: new Set(),
      failure: undefined,
      attempted: attempted.promise,
    };
    informer.onChange((change) => deps.onChange(watch, change));
    const run = informer.run(stop.signal).finally(() => {
      attempted.resolve();
      running.delete(run);
    });
    running.add(run);
    return watch;
  }

  function ensure(client: WatchClient, namespace: string): Running<T> {
    const key = watchKey(client, namespace);
    const known = watches.get(key);
    if (known !== undefined) return known;
    const watch = start(client, namespace);
    watches.set(key, watch);
    byNamespace.set(namespace, (byNamespace.get(namespace) ?? new Set()).add(watch));
    return watch;
  }

  function leave(id: string, watch: Running<T>): void {
    watch.followers.delete(id);
    if (watch.followers.size > 0) return;
    watch.stop.abort();
    watches.delete(watchKey(watch.client, watch.namespace));
    const others = byNamespace.get(watch.namespace);
    others?.delete(watch);
    if (others?.size === 0) byNamespace.delete(watch.namespace);
  }

  return {
    get: (client, namespace) => watches.get(watchKey(client, namespace)),
    inNamespace: (namespace) => [...(byNamespace.get(namespace) ?? [])],
    async observe(id, { client, namespaces, signal }) {
      const before = followed.get(id) ?? [];
      const now = [...new Set(namespaces)].map((namespace) => ensure(client, namespace));
      for (const watch of now) watch.followers.add(id);
      if (now.length > 0) followed.set(id, now);
      else followed.delete(id);
      for (const watch of before) if (!now.includes(watch)) leave(id, watch);
      await Promise.race([
        Promise.all(now.map(({ attempted }) => attempted)),
        untilAborted(signal),
      ]);
      return now;
    },
    forget(id) {
      const before = followed.get(id) ?? [];
      followed.delete(id);
      for (const watch of before) leave(id, watch);
    },
    async run(signal) {
      await untilAborted(signal);
      for (const { stop } of watches.values()) stop.abort();
      await Promise.all(running);
    },
  };
}
