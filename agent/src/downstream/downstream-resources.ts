/**
 * Downstream resources: Secrets and ConfigMaps of the hub that are copied into the namespaces of releases. Each carries the
 * name of the deployment that owns it. If several deployments refer to the same one, they share it, and it is deleted with
 * the last of them. An object that the agent did not create is never changed.
 */

import { formatObjectRef, type ObjectRef } from "@flotilla/shared/api";
import { AppError, messageOf } from "@flotilla/shared/errors";
import { createInformer, defineIndex, dropBulk, type Informer } from "@flotilla/shared/kube/cache";
import {
  isAlreadyExists,
  isConflict,
  isNotFound,
  type KubeRest,
} from "@flotilla/shared/kube/client";
import {
  configMaps,
  type KubeObject,
  keyOf,
  type ObjectMeta,
  type Resource,
  secrets,
} from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import { type Assignments, createReferrers } from "../assignment/index.ts";
import { agentErrors } from "../errors/index.ts";
import type { ImpersonatedClient } from "../impersonation/index.ts";
import {
  type DownstreamObject,
  type DownstreamResource,
  downstreamLabel,
  planDownstreamResource,
} from "./downstream-object.ts";

/** Finds the deployments, except withdrawn ones, that refer to a downstream resource in a namespace. */
export type DownstreamReferrers = (
  ref: ObjectRef,
  namespace: string,
) => Promise<ReadonlySet<string>>;

export function createDownstreamReferrers(
  assignments: Pick<Assignments, "list">,
): DownstreamReferrers {
  const referrers = createReferrers(
    // Paused deployments, and those that wait for others, are included.
    { list: () => assignments.list().filter(({ withdrawing }) => !withdrawing) },
    ({ namespace, copies = [] }) => copies.map((ref) => referenceKey(ref, namespace)),
  );
  return async (ref, namespace) => new Set(await referrers.of(referenceKey(ref, namespace)));
}

function referenceKey(ref: ObjectRef, namespace: string): string {
  return `${namespace}/${formatObjectRef(ref)}`;
}

export interface DownstreamTarget {
  /** The deployment. */
  readonly owner: string;
  /** Of the release. */
  readonly namespace: string;
  readonly client: ImpersonatedClient;
  readonly signal: AbortSignal;
}

export interface DownstreamResources {
  /** Resolves when the existing ones are listed. */
  readonly synced: Promise<void>;
  /**
   * Makes these the only resources of a deployment. Throws DOWNSTREAM_RESOURCE_CONFLICT if the cluster has an object of the
   * name that the agent did not create, and DOWNSTREAM_RESOURCE_FAILED with the API server's answer.
   */
  apply(resources: readonly DownstreamResource[], target: DownstreamTarget): Promise<void>;
  /** Whether a deployment owns any. */
  has(owner: string): boolean;
  /** Deletes those of a deployment that is being withdrawn and that no other refers to. */
  remove(owner: string, client: ImpersonatedClient, signal: AbortSignal): Promise<void>;
  /** Called with the deployments whose resources were changed or deleted in the cluster. */
  onChange(listener: (owners: ReadonlySet<string>) => void): void;
  run(signal: AbortSignal): Promise<void>;
}

export interface DownstreamResourcesDeps {
  /** The agent's own, for watches. Writes are impersonated. */
  readonly rest: KubeRest;
  readonly referrers: DownstreamReferrers;
  readonly clock: Clock;
  readonly log: Log;
}

type Kind = ObjectRef["kind"];

interface Cache {
  readonly resource: Resource<DownstreamObject>;
  readonly informer: Informer<DownstreamObject>;
}

const byOwner = defineIndex<KubeObject>("owner", ({ metadata }) => [
  metadata.labels?.[downstreamLabel] ?? "",
]);

export function createDownstreamResources(deps: DownstreamResourcesDeps): DownstreamResources {
  const { referrers } = deps;
  const listeners: ((owners: ReadonlySet<string>) => void)[] = [];
  // Both kinds have the fields of either.
  const caches: Readonly<Record<Kind, Cache>> = {
    Secret: createCache(deps, secrets, (metadata) => notify("Secret", metadata)),
    ConfigMap: createCache(deps, configMaps, (metadata) => notify("ConfigMap", metadata)),
  };

  async function notify(kind: Kind, metadata: ObjectMeta): Promise<void> {
    const owners = await referrersOf(kind, metadata);
    if (owners.size > 0) for (const listener of listeners) listener(owners);
  }

  function referrersOf(
    kind: Kind,
    { namespace = "", name }: Pick<ObjectMeta, "namespace" | "name">,
  ): Promise<ReadonlySet<string>> {
    return referrers({ kind, name }, namespace);
  }

  async function put(resource: DownstreamResource, target: DownstreamTarget): Promise<void> {
    const { kind, name } = resource.ref;
    const cache = caches[kind];
    const ref = { namespace: target.namespace, name };
    const existing = cache.informer.store.get(keyOf(ref));
    const owner = existing?.metadata.labels?.[downstreamLabel] ?? "";
    // A shared resource keeps its owner.
    const isShared = (await referrersOf(kind, ref)).has(owner);
    const plan = planDownstreamResource(resource, existing, {
      namespace: target.namespace,
      owner: isShared ? owner : target.owner,
    });
    const { signal, client } = target;
    const { informer, resource: type } = cache;
    switch (plan.kind) {
      case "none":
        return;
      case "recreate":
        await remove(type, plan.before, client, signal);
        informer.store.wrote(await client.rest.create(type, plan.object, { signal }));
        return;
      case "create":
        informer.store.wrote(await client.rest.create(type, plan.object, { signal }));
        return;
      case "replace":
        informer.store.wrote(await client.rest.replace(type, plan.object, { signal }));
        return;
    }
  }

  /** Deletes what a deployment owns and does not refer to any more, or makes another that refers to it the owner. */
  async function prune(
    owner: string,
    client: ImpersonatedClient,
    signal: AbortSignal,
  ): Promise<void> {
    for (const kind of ["Secret", "ConfigMap"] as const) {
      const { informer, resource } = caches[kind];
      for (const object of informer.store.byIndex(byOwner, owner)) {
        const names = await referrersOf(kind, object.metadata);
        if (names.has(owner)) continue;
        const [newOwner] = [...names].toSorted();
        const { namespace = "", name } = object.metadata;
        try {
          if (newOwner === undefined) await remove(resource, object, client, signal);
          else informer.store.wrote(await transfer(resource, object, newOwner, client, signal));
        } catch (thrown) {
          // It was replaced or deleted meanwhile.
          if (isConflict(thrown) || isNotFound(thrown)) continue;
          throw new AppError(
            agentErrors.DOWNSTREAM_RESOURCE_FAILED,
            `${newOwner === undefined ? "delete" : `transfer to deployment ${newOwner}`} the downstream resource ${kind} ${namespace}/${name} as ${client.subject}: ${messageOf(thrown)}`,
            { cause: thrown },
          );
        }
      }
    }
  }

  return {
    synced: Promise.all(Object.values(caches).map(({ informer }) => informer.synced)).then(
      () => undefined,
    ),
    async apply(resources, target) {
      for (const resource of resources.toSorted((a, b) =>
        formatObjectRef(a.ref) < formatObjectRef(b.ref) ? -1 : 1,
      )) {
        try {
          await put(resource, target);
        } catch (thrown) {
          throw toError(thrown, resource, target);
        }
      }
      await prune(target.owner, target.client, target.signal);
    },
    has: (owner) =>
      Object.values(caches).some(
        ({ informer }) => informer.store.byIndex(byOwner, owner).length > 0,
      ),
    remove: prune,
    onChange(listener) {
      listeners.push(listener);
    },
    async run(signal) {
      await Promise.all(Object.values(caches).map(({ informer }) => informer.run(signal)));
    },
  };
}

function createCache(
  { rest, clock, log }: DownstreamResourcesDeps,
  resource: Resource<DownstreamObject>,
  onChange: (metadata: ObjectMeta) => Promise<void>,
): Cache {
  const informer = createInformer<DownstreamObject>({
    rest,
    resource,
    labelSelector: downstreamLabel,
    clock,
    log: log.child({ cache: `downstream ${resource.plural}` }),
    transform: dropBulk,
  });
  informer.onChange(({ before, after }) => {
    const changed = after ?? before;
    if (informer.hasSynced && changed !== undefined) void onChange(changed.metadata);
  });
  return { resource, informer };
}

async function remove(
  resource: Resource<DownstreamObject>,
  { metadata }: DownstreamObject,
  { rest }: ImpersonatedClient,
  signal: AbortSignal,
): Promise<void> {
  const { uid } = metadata;
  await rest.delete(resource, metadata, { ...(uid !== undefined && { uid }), signal });
}

/** Makes another deployment the owner. */
async function transfer(
  resource: Resource<DownstreamObject>,
  { metadata: { resourceVersion, ...metadata } }: DownstreamObject,
  owner: string,
  { rest }: ImpersonatedClient,
  signal: AbortSignal,
): Promise<DownstreamObject> {
  const body = { metadata: { resourceVersion, labels: { [downstreamLabel]: owner } } };
  return await rest.patch(resource, metadata, { type: "merge", body }, { signal });
}

function toError(thrown: unknown, { ref }: DownstreamResource, target: DownstreamTarget): AppError {
  const what = `${ref.kind} ${target.namespace}/${ref.name}`;
  if (isAlreadyExists(thrown)) {
    return new AppError(
      agentErrors.DOWNSTREAM_RESOURCE_CONFLICT,
      `copy the hub's ${ref.kind} ${ref.name} to ${what}: the cluster has such an object already that the agent did not create, and it is not changed; delete it, or rename one of the two`,
      { cause: thrown },
    );
  }
  return new AppError(
    agentErrors.DOWNSTREAM_RESOURCE_FAILED,
    `copy the hub's ${ref.kind} ${ref.name} to ${what} as ${target.client.subject}: ${messageOf(thrown)}`,
    { cause: thrown },
  );
}
