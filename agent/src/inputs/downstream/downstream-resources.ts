/**
 * Downstream resources: Secrets and ConfigMaps of the hub that are copied into the namespaces of releases. The inventory has their
 * UIDs by release; labels, which everybody can write, only select what is watched. If several releases refer to the same one, they
 * share it, and it is deleted with the last of them. An object that the agent did not create is never changed.
 */

import { copyOf, formatObjectRef, type ObjectRef } from "@flotilla/shared/api";
import { AppError, messageOf } from "@flotilla/shared/errors";
import {
  isAlreadyExists,
  isConflict,
  isNotFound,
  type KubeRest,
} from "@flotilla/shared/kube/client";
import {
  configMaps,
  keyOf,
  type ObjectMeta,
  type Resource,
  secrets,
} from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import { agentErrors } from "../../base/errors/index.ts";
import type { ImpersonatedClient } from "../../base/index.ts";
import {
  createReferrers,
  deploymentOf,
  type Inventory,
  type InventoryObject,
  type ReleaseAssignments,
} from "../../state/index.ts";
import {
  type DownstreamObject,
  type DownstreamResource,
  downstreamLabel,
  planDownstreamResource,
} from "./downstream-object.ts";
import {
  type DownstreamWatches,
  watchAllDownstream,
  watchDownstreamAsAccounts,
} from "./downstream-watches.ts";

/**
 * Finds the releases, except withdrawn ones, that refer to a downstream resource in a namespace. `source`: only those that copy it from
 * this object of the hub.
 */
export type DownstreamReferrers = (
  ref: ObjectRef,
  namespace: string,
  source?: ObjectRef,
) => Promise<ReadonlySet<string>>;

export function createDownstreamReferrers(
  assigned: Pick<ReleaseAssignments, "list">,
): DownstreamReferrers {
  const referrers = createReferrers(
    // Paused ones, and those that wait for others, are included.
    { list: () => assigned.list().filter(({ withdrawing }) => !withdrawing) },
    ({ namespace, copies = [] }) =>
      copies.flatMap((source) => {
        const ref = copyOf(source);
        return [referenceKey(ref, namespace), sourceKey(ref, namespace, source)];
      }),
  );
  return async (ref, namespace, source) =>
    new Set(
      await referrers.of(
        source === undefined ? referenceKey(ref, namespace) : sourceKey(ref, namespace, source),
      ),
    );
}

function sourceKey(ref: ObjectRef, namespace: string, source: ObjectRef): string {
  return `${referenceKey(ref, namespace)} of ${formatObjectRef(source)}`;
}

function referenceKey(ref: ObjectRef, namespace: string): string {
  return `${namespace}/${formatObjectRef(ref)}`;
}

export interface DownstreamTarget {
  /** The id of the release. */
  readonly owner: string;
  /** The namespace of the release. */
  readonly namespace: string;
  readonly client: ImpersonatedClient;
  readonly signal: AbortSignal;
}

export interface DownstreamResources {
  /** Resolves when the existing ones are listed. */
  readonly synced: Promise<void>;
  /**
   * Makes these the only resources of a release. Throws DOWNSTREAM_RESOURCE_CONFLICT if the cluster has an object of the
   * name that the agent did not create, and DOWNSTREAM_RESOURCE_FAILED with the API server's answer.
   */
  apply(resources: readonly DownstreamResource[], target: DownstreamTarget): Promise<void>;
  /** Whether a release owns any. */
  has(owner: string): boolean;
  /** Deletes the objects of a release that is being withdrawn and that no other refers to. */
  remove(owner: string, client: ImpersonatedClient, signal: AbortSignal): Promise<void>;
  /** Ends the watches that no other release needs. */
  forget(owner: string): void;
  /** Called with the releases whose resources were changed or deleted in the cluster. */
  onChange(listener: (owners: ReadonlySet<string>) => void): void;
  run(signal: AbortSignal): Promise<void>;
}

export interface DownstreamResourcesDeps {
  /** The agent's own, for watches, unless they are as the accounts. Writes are impersonated. */
  readonly rest: KubeRest;
  /** Resources are watched as the accounts of the deployments, not with the agent's rights. */
  readonly isPerAccount?: boolean;
  readonly referrers: DownstreamReferrers;
  readonly inventory: Pick<Inventory, "objectsOf" | "ownerOfObject" | "setObjects">;
  readonly clock: Clock;
  readonly log: Log;
}

type Kind = ObjectRef["kind"];

interface Cache {
  readonly resource: Resource<DownstreamObject>;
  readonly watches: DownstreamWatches;
}

export function createDownstreamResources(deps: DownstreamResourcesDeps): DownstreamResources {
  const { referrers, inventory } = deps;
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

  /** Only what a release has, or will have, is watched for it. */
  async function observe(
    { owner, client, signal }: Pick<DownstreamTarget, "owner" | "client" | "signal">,
    desired: readonly Pick<InventoryObject, "kind" | "namespace">[] = [],
  ): Promise<void> {
    const all = [...inventory.objectsOf(owner), ...desired];
    for (const [kind, { watches }] of Object.entries(caches)) {
      const namespaces = all.flatMap((each) => (each.kind === kind ? [each.namespace] : []));
      await watches.observe(owner, { client: client.watch, namespaces, signal });
    }
  }

  async function put(resource: DownstreamResource, target: DownstreamTarget): Promise<void> {
    const { kind, name } = resource.ref;
    const cache = caches[kind];
    const ref = { namespace: target.namespace, name };
    const store = cache.watches.storeFor(target.client.watch, target.namespace);
    const found = store.get(keyOf(ref));
    const owner = inventory.ownerOfObject(found?.metadata.uid ?? "");
    // A shared resource keeps its owner.
    const isShared = owner !== undefined && (await referrersOf(kind, ref)).has(owner);
    const newOwner = isShared ? owner : target.owner;
    const desired = { namespace: target.namespace, owner: deploymentOf(newOwner) };
    // One that was created just before the agent was ended is the same as the desired one.
    const isOwn =
      owner !== undefined ||
      (found !== undefined && planDownstreamResource(resource, found, desired).kind === "none");
    const existing = isOwn ? found : undefined;
    const plan = planDownstreamResource(resource, existing, desired);
    if (isShared && owner !== target.owner && plan.kind !== "none") {
      const source = resource.source ?? resource.ref;
      const sharing = await referrers(resource.ref, target.namespace, source);
      if (!sharing.has(owner)) throw otherSource(resource, target, deploymentOf(owner));
    }
    const enter = async ({ metadata: { uid = "" } }: DownstreamObject): Promise<void> => {
      if (inventory.ownerOfObject(uid) === newOwner) return;
      await own(newOwner, { kind, ...ref, uid });
    };
    const { signal, client } = target;
    const { resource: type } = cache;
    switch (plan.kind) {
      case "none":
        if (existing !== undefined) await enter(existing);
        return;
      case "recreate":
        await remove(type, plan.before, client, signal);
        break;
      case "create":
        break;
      case "replace": {
        const replaced = await client.rest.replace(type, plan.object, { signal });
        store.wrote(replaced);
        await enter(replaced);
        return;
      }
    }
    const created = await client.rest.create(type, plan.object, { signal });
    store.wrote(created);
    await enter(created);
  }

  /** Enters an object into the inventory, in place of an earlier one of its name and of another owner. */
  async function own(owner: string, object: InventoryObject): Promise<void> {
    const before = inventory.ownerOfObject(object.uid);
    if (before !== undefined && before !== owner) await disown(before, object);
    const others = inventory.objectsOf(owner).filter((each) => !isSameName(each, object));
    await inventory.setObjects(owner, [...others, object]);
  }

  async function disown(owner: string, { uid }: InventoryObject): Promise<void> {
    const others = inventory.objectsOf(owner).filter((each) => each.uid !== uid);
    await inventory.setObjects(owner, others);
  }

  /** Deletes what a release owns and does not refer to any more, or makes another that refers to it the owner. */
  async function prune(
    owner: string,
    client: ImpersonatedClient,
    signal: AbortSignal,
  ): Promise<void> {
    for (const object of inventory.objectsOf(owner)) {
      const { kind, namespace, name, uid } = object;
      const { watches, resource } = caches[kind];
      const store = watches.storeFor(client.watch, namespace);
      const names = await referrersOf(kind, object);
      if (names.has(owner)) continue;
      const [newOwner] = [...names].toSorted();
      const found = store.get(keyOf(object));
      try {
        if (newOwner === undefined)
          await remove(resource, { metadata: { namespace, name, uid } }, client, signal);
        else if (found?.metadata.uid === uid)
          store.wrote(await transfer(resource, found, newOwner, client, signal));
      } catch (thrown) {
        // It was replaced or deleted meanwhile.
        if (isConflict(thrown) && newOwner !== undefined) continue;
        if (!isConflict(thrown) && !isNotFound(thrown)) {
          throw new AppError(
            agentErrors.DOWNSTREAM_RESOURCE_FAILED,
            `${newOwner === undefined ? "delete" : `transfer to deployment ${deploymentOf(newOwner)}`} the downstream resource ${kind} ${namespace}/${name} as ${client.subject}: ${messageOf(thrown)}`,
            { cause: thrown },
          );
        }
      }
      if (newOwner === undefined) await disown(owner, object);
      else await own(newOwner, object);
    }
  }

  return {
    synced: Promise.all(Object.values(caches).map(({ watches }) => watches.synced)).then(
      () => undefined,
    ),
    async apply(resources, target) {
      const { namespace } = target;
      await observe(
        target,
        resources.map(({ ref: { kind } }) => ({ kind, namespace })),
      );
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
    has: (owner) => inventory.objectsOf(owner).length > 0,
    async remove(owner, client, signal) {
      await observe({ owner, client, signal });
      await prune(owner, client, signal);
    },
    forget(owner) {
      for (const { watches } of Object.values(caches)) watches.forget(owner);
    },
    onChange(listener) {
      listeners.push(listener);
    },
    async run(signal) {
      await Promise.all(Object.values(caches).map(({ watches }) => watches.run(signal)));
    },
  };
}

function createCache(
  { rest, isPerAccount = false, clock, log }: DownstreamResourcesDeps,
  resource: Resource<DownstreamObject>,
  onChange: (metadata: ObjectMeta) => Promise<void>,
): Cache {
  const deps = {
    resource,
    clock,
    log,
    onChange: (metadata: ObjectMeta) => void onChange(metadata),
  };
  const watches = isPerAccount ? watchDownstreamAsAccounts(deps) : watchAllDownstream(rest, deps);
  return { resource, watches };
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

/** Makes another release the owner. */
async function transfer(
  resource: Resource<DownstreamObject>,
  { metadata: { resourceVersion, ...metadata } }: DownstreamObject,
  owner: string,
  { rest }: ImpersonatedClient,
  signal: AbortSignal,
): Promise<DownstreamObject> {
  const body = {
    metadata: { resourceVersion, labels: { [downstreamLabel]: deploymentOf(owner) } },
  };
  return await rest.patch(resource, metadata, { type: "merge", body }, { signal });
}

function isSameName(a: InventoryObject, b: InventoryObject): boolean {
  return a.kind === b.kind && a.namespace === b.namespace && a.name === b.name;
}

/** Bundles of two namespaces of the hub may each have an object of this name. */
function otherSource(
  { ref, source = ref }: DownstreamResource,
  { namespace }: DownstreamTarget,
  owner: string,
): AppError {
  return new AppError(
    agentErrors.DOWNSTREAM_RESOURCE_CONFLICT,
    `copy the hub's ${source.kind} ${source.name} to ${ref.kind} ${namespace}/${ref.name}: it is the copy of another object of the hub, of deployment ${owner}, and it is not changed; rename one of the two, or install one of the releases in another namespace`,
  );
}

function toError(thrown: unknown, { ref }: DownstreamResource, target: DownstreamTarget): AppError {
  if (thrown instanceof AppError && thrown.code === agentErrors.DOWNSTREAM_RESOURCE_CONFLICT.code)
    return thrown;
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
