/**
 * Caches of one kind of downstream resources: of all namespaces with the agent's own rights, or, if impersonation is required,
 * of single namespaces as the accounts of the deployments.
 */
import { AppError } from "@flotilla/shared/errors";
import { createInformer, dropBulk, type Informer, type Store } from "@flotilla/shared/kube/cache";
import { describeKind, type KubeRest } from "@flotilla/shared/kube/client";
import type { ObjectMeta, Resource } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import { agentErrors } from "../../base/errors/index.ts";
import {
  createAccountWatches,
  isUsable,
  type WatchClient,
  type WatchScope,
} from "../../base/index.ts";
import { type DownstreamObject, downstreamLabel } from "./downstream-object.ts";

export type DownstreamStore = Pick<Store<DownstreamObject>, "get" | "wrote">;

export interface DownstreamWatches {
  /** Resolves when the resources that are watched from the start are listed. */
  readonly synced: Promise<void>;
  /** For a namespace that a deployment of this client observes. */
  storeFor(client: WatchClient, namespace: string): DownstreamStore;
  /** Makes these the namespaces that a deployment observes. Throws DOWNSTREAM_RESOURCE_FAILED if its account may not. */
  observe(id: string, scope: WatchScope): Promise<void>;
  forget(id: string): void;
  run(signal: AbortSignal): Promise<void>;
}

export interface DownstreamWatchesDeps {
  readonly resource: Resource<DownstreamObject>;
  /** Called after the first list. */
  readonly onChange: (metadata: ObjectMeta) => void;
  readonly clock: Clock;
  readonly log: Log;
}

interface InformerOptions {
  readonly rest: KubeRest;
  readonly namespace?: string;
  readonly onListed?: (failure?: AppError) => void;
}

/** One watch of all namespaces, with the agent's own rights. */
export function watchAllDownstream(rest: KubeRest, deps: DownstreamWatchesDeps): DownstreamWatches {
  const informer = informerOf(deps, { rest });
  informer.onChange(({ before, after }) => {
    const changed = after ?? before;
    if (informer.hasSynced && changed !== undefined) deps.onChange(changed.metadata);
  });
  return {
    synced: informer.synced,
    storeFor: () => informer.store,
    observe: () => Promise.resolve(),
    forget: () => undefined,
    run: (signal) => informer.run(signal),
  };
}

/** One watch for each account and namespace, shared by the deployments of that account. */
export function watchDownstreamAsAccounts(deps: DownstreamWatchesDeps): DownstreamWatches {
  const watches = createAccountWatches<DownstreamObject>({
    createInformer: ({ client, namespace, onListed }) =>
      informerOf(deps, { rest: client.rest, namespace, onListed }),
    onChange({ informer }, { before, after }) {
      const changed = after ?? before;
      if (informer.hasSynced && changed !== undefined) deps.onChange(changed.metadata);
    },
  });
  return {
    synced: Promise.resolve(),
    // What is not observed is not known; a write then has the API server's answer.
    storeFor: (client, namespace) =>
      watches.get(client, namespace)?.informer.store ?? {
        get: () => undefined,
        wrote: () => undefined,
      },
    async observe(id, scope) {
      for (const watch of await watches.observe(id, scope)) {
        if (isUsable(watch)) continue;
        const { client, namespace, failure } = watch;
        throw new AppError(
          agentErrors.DOWNSTREAM_RESOURCE_FAILED,
          `watch the downstream resources (${describeKind(deps.resource)}) in namespace ${namespace} as ${client.subject}: ${failure?.message ?? "cancelled before the first list"}`,
          { cause: failure },
        );
      }
    },
    forget: watches.forget,
    run: watches.run,
  };
}

function informerOf(
  { resource, clock, log }: DownstreamWatchesDeps,
  options: InformerOptions,
): Informer<DownstreamObject> {
  return createInformer<DownstreamObject>({
    ...options,
    resource,
    labelSelector: downstreamLabel,
    clock,
    log: log.child({ cache: `downstream ${resource.plural}` }),
    transform: dropBulk,
  });
}
