/**
 * Secrets and ConfigMaps of the hub that deployments have copied into the namespaces of their releases. Each carries the
 * name of the deployment that it was copied for; where several want the same one, it is theirs together and goes with the
 * last. An object of that name which nobody copied there is never touched.
 */

import { AppError, messageOf } from "@flotilla/shared/errors/app-error.ts";
import { createInformer, dropBulk, type Informer } from "@flotilla/shared/kube/cache/informer.ts";
import { defineIndex } from "@flotilla/shared/kube/cache/object-index.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import {
  isAlreadyExists,
  isConflict,
  isNotFound,
} from "@flotilla/shared/kube/client/status-error.ts";
import { configMaps, secrets } from "@flotilla/shared/kube/objects/core-resources.ts";
import {
  type KubeObject,
  keyOf,
  type ObjectMeta,
  type Resource,
} from "@flotilla/shared/kube/objects/object.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import { type SupplyRef, supplyKey } from "@flotilla/shared/supply/supply.ts";
import type { Clock } from "@flotilla/shared/time/clock.ts";
import type { Actor } from "../acting/actors.ts";
import { agentErrors } from "../errors.ts";
import { type Copy, type CopyObject, copyLabel, planCopy } from "./copy-object.ts";
import type { CopyWanters } from "./copy-wanters.ts";

export interface CopyPlace {
  /** The deployment. */
  readonly owner: string;
  /** Of the release. */
  readonly namespace: string;
  readonly actor: Actor;
  readonly signal: AbortSignal;
}

export interface Copies {
  /** Whether it is known what was copied. */
  readonly synced: Promise<void>;
  /**
   * Has exactly these copied for a deployment. Throws COPY_TAKEN where somebody else has an object of the name, and
   * COPY_FAILED with what came back.
   */
  apply(copies: readonly Copy[], place: CopyPlace): Promise<void>;
  /** Whether anything was copied for a deployment. */
  has(owner: string): boolean;
  /** Removes what was copied for a deployment that is being withdrawn and that no other wants. */
  remove(owner: string, actor: Actor, signal: AbortSignal): Promise<void>;
  /** Told the deployments of which a copy was changed, or is gone. */
  onChange(listener: (owners: ReadonlySet<string>) => void): void;
  run(signal: AbortSignal): Promise<void>;
}

export interface CopiesDeps {
  /** The agent's own: it sees what was copied, and writes nothing. */
  readonly rest: KubeRest;
  readonly wanters: CopyWanters;
  readonly clock: Clock;
  readonly log: Log;
}

interface KindOfCopy {
  readonly resource: Resource<CopyObject>;
  readonly informer: Informer<CopyObject>;
}

const byOwner = defineIndex<KubeObject>("owner", ({ metadata }) => [
  metadata.labels?.[copyLabel] ?? "",
]);

export function createCopies({ rest, wanters, clock, log }: CopiesDeps): Copies {
  const listeners: ((owners: ReadonlySet<string>) => void)[] = [];
  const kinds: Readonly<Record<SupplyRef["kind"], KindOfCopy>> = {
    Secret: kindOf("Secret", secrets),
    ConfigMap: kindOf("ConfigMap", configMaps),
  };

  // Both kinds have the fields of either, or none in their place.
  function kindOf(kind: SupplyRef["kind"], resource: Resource<CopyObject>): KindOfCopy {
    const informer = createInformer<CopyObject>({
      rest,
      resource,
      labelSelector: copyLabel,
      clock,
      log: log.child({ cache: `copies, ${resource.plural}` }),
      transform: dropBulk,
    });
    informer.onChange(({ before, after }) => {
      const changed = after ?? before;
      if (informer.hasSynced && changed !== undefined) void tell(kind, changed.metadata);
    });
    return { resource, informer };
  }

  async function tell(kind: SupplyRef["kind"], metadata: ObjectMeta): Promise<void> {
    const owners = await wantersOf(kind, metadata);
    if (owners.size > 0) for (const listener of listeners) listener(owners);
  }

  function wantersOf(
    kind: SupplyRef["kind"],
    { namespace = "", name }: Pick<ObjectMeta, "namespace" | "name">,
  ): Promise<ReadonlySet<string>> {
    return wanters({ kind, name }, namespace);
  }

  async function put(copy: Copy, place: CopyPlace): Promise<void> {
    const { resource, informer } = kinds[copy.ref.kind];
    const ref = { namespace: place.namespace, name: copy.ref.name };
    const existing = informer.store.get(keyOf(ref));
    const holder = existing?.metadata.labels?.[copyLabel] ?? "";
    const isShared = (await wantersOf(copy.ref.kind, ref)).has(holder);
    const step = planCopy(copy, existing, {
      namespace: place.namespace,
      owner: isShared ? holder : place.owner,
    });
    const { rest: acting } = place.actor;
    const { signal } = place;
    switch (step.kind) {
      case "none":
        return;
      case "make anew":
        await acting.delete(resource, step.before.metadata, {
          ...(step.before.metadata.uid !== undefined && { uid: step.before.metadata.uid }),
          signal,
        });
        informer.store.wrote(await acting.create(resource, step.object, { signal }));
        return;
      case "create":
        informer.store.wrote(await acting.create(resource, step.object, { signal }));
        return;
      case "replace":
        informer.store.wrote(await acting.replace(resource, step.object, { signal }));
        return;
    }
  }

  /** In words, where it could not be done. */
  function problemOf(thrown: unknown, { ref }: Copy, place: CopyPlace): AppError {
    const what = `${ref.kind} ${place.namespace}/${ref.name}`;
    if (isAlreadyExists(thrown)) {
      return new AppError(
        agentErrors.COPY_TAKEN,
        `copy the ${ref.kind} ${ref.name} of the hub: there is a ${what} in the cluster already that was not copied there, and it stays as it is; delete it, or give one of the two another name`,
        { cause: thrown },
      );
    }
    return new AppError(
      agentErrors.COPY_FAILED,
      `copy the ${ref.kind} ${ref.name} of the hub to ${what} as ${place.actor.title}: ${messageOf(thrown)}`,
      { cause: thrown },
    );
  }

  /** What was copied for it and it does not want any more goes, or to another that wants it too. */
  async function letGo(owner: string, actor: Actor, signal: AbortSignal): Promise<void> {
    for (const kind of ["Secret", "ConfigMap"] as const) {
      for (const object of kinds[kind].informer.store.byIndex(byOwner, owner)) {
        const wanting = await wantersOf(kind, object.metadata);
        if (wanting.has(owner)) continue;
        const [heir] = [...wanting].toSorted();
        const { namespace = "", name } = object.metadata;
        try {
          if (heir === undefined) await remove(kind, object, actor, signal);
          else await handOn(kind, object, heir, actor, signal);
        } catch (thrown) {
          // Another one by now, which nobody copied there.
          if (isConflict(thrown) || isNotFound(thrown)) continue;
          throw new AppError(
            agentErrors.COPY_FAILED,
            `${heir === undefined ? "delete the copy" : `hand on to ${heir} the copy`} ${kind} ${namespace}/${name} as ${actor.title}: ${messageOf(thrown)}`,
            { cause: thrown },
          );
        }
      }
    }
  }

  async function remove(
    kind: SupplyRef["kind"],
    { metadata }: CopyObject,
    { rest: acting }: Actor,
    signal: AbortSignal,
  ): Promise<void> {
    await acting.delete(kinds[kind].resource, metadata, {
      ...(metadata.uid !== undefined && { uid: metadata.uid }),
      signal,
    });
  }

  async function handOn(
    kind: SupplyRef["kind"],
    { metadata: { resourceVersion, ...metadata } }: CopyObject,
    heir: string,
    { rest: acting }: Actor,
    signal: AbortSignal,
  ): Promise<void> {
    const { resource, informer } = kinds[kind];
    const body = { metadata: { resourceVersion, labels: { [copyLabel]: heir } } };
    informer.store.wrote(
      await acting.patch(resource, metadata, { type: "merge", body }, { signal }),
    );
  }

  return {
    synced: Promise.all(Object.values(kinds).map(({ informer }) => informer.synced)).then(
      () => undefined,
    ),
    async apply(copies, place) {
      for (const copy of copies.toSorted((a, b) =>
        supplyKey(a.ref) < supplyKey(b.ref) ? -1 : 1,
      )) {
        try {
          await put(copy, place);
        } catch (thrown) {
          throw problemOf(thrown, copy, place);
        }
      }
      await letGo(place.owner, place.actor, place.signal);
    },
    has: (owner) =>
      Object.values(kinds).some(
        ({ informer }) => informer.store.byIndex(byOwner, owner).length > 0,
      ),
    remove: letGo,
    onChange(listener) {
      listeners.push(listener);
    },
    async run(signal) {
      await Promise.all(Object.values(kinds).map(({ informer }) => informer.run(signal)));
    },
  };
}
