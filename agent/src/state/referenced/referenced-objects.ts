/**
 * The objects that the hub sent because deployments reference them, stored in the cluster, so that an agent continues
 * without the hub. An object is removed only by a withdrawal, even if the hub does not have it any more.
 */
import type { ObjectRef, ObservedObject, ReferencedObject } from "@flotilla/proto";
import { formatObjectRef } from "@flotilla/shared/api";
import { createKeyedMutex } from "@flotilla/shared/concurrency";
import { messageOf } from "@flotilla/shared/errors";
import type { Secret } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import {
  packReferencedObject,
  type ReferencedObjectData,
  unpackReferencedObject,
} from "@flotilla/shared/referenced";
import type { SecretStorage } from "../../base/index.ts";
import {
  parseReferencedSecret,
  referencedPartSelector,
  referencedParts,
  referencedSecret,
  referencedSecretName,
  referencedSelector,
  type StoredObject,
} from "./referenced-secret.ts";

export interface ReferencedObjects {
  /** Reads the stored objects. Must be called once, before all other methods. */
  load(): Promise<void>;
  /**
   * `undefined`: the hub has sent nothing about the object. `digest` undefined: the hub has no such object now; `object` is
   * then the last version that it had, if any.
   */
  get(ref: ObjectRef): KnownObject | undefined;
  /** The stored objects, for the hub to compare with the desired ones. */
  observed(): readonly ObservedObject[];
  /** Takes effect at once; the result is whether it could be stored. Idempotent. Throws REFERENCED_OBJECT_INVALID. */
  set(object: ReferencedObject): Promise<boolean>;
  /** Never rejects: an object that cannot be deleted stays stored, and the hub withdraws it again. */
  remove(ref: ObjectRef): Promise<void>;
  onChange(listener: (ref: ObjectRef) => void): void;
}

export interface KnownObject {
  readonly digest?: string;
  readonly object?: ReferencedObjectData;
}

export interface ReferencedObjectsDeps {
  readonly secrets: SecretStorage;
  readonly log: Log;
}

interface Entry {
  readonly ref: ObjectRef;
  known: KnownObject;
  /** Whether `known` is stored. */
  isStored: boolean;
}

export function createReferencedObjects({
  secrets,
  log,
}: ReferencedObjectsDeps): ReferencedObjects {
  const entries = new Map<string, Entry>();
  /** By object: an object that is sent again during its deletion must not be deleted. */
  const mutex = createKeyedMutex();
  const listeners: ((ref: ObjectRef) => void)[] = [];
  /** The names of the Secrets that continue the first one, by object. */
  const partNames = new Map<string, ReadonlySet<string>>();

  function notify(ref: ObjectRef): void {
    for (const listener of listeners) listener(ref);
  }

  async function restore({ ref, packed, isMissing }: StoredObject): Promise<void> {
    const object = packed && (await unpackReferencedObject(ref, packed));
    entries.set(formatObjectRef(ref), {
      ref,
      known: {
        ...(object !== undefined && { object }),
        ...(packed !== undefined && !isMissing && { digest: packed.digest }),
      },
      isStored: true,
    });
  }

  /** False if it failed: the hub sends it again on the next stream. */
  async function store(entry: Entry): Promise<boolean> {
    const { ref, known } = entry;
    try {
      const packed = known.object && (await packReferencedObject(known.object));
      const stored: StoredObject = {
        ref,
        ...(packed !== undefined && { packed }),
        isMissing: known.digest === undefined,
      };
      await write(stored);
    } catch (thrown) {
      log.warn(
        { object: formatObjectRef(ref), err: messageOf(thrown) },
        "referenced object is in use but was not stored; a restart without the hub would lose it",
      );
      return false;
    }
    if (entry.known === known) entry.isStored = true;
    return true;
  }

  async function write(stored: StoredObject): Promise<void> {
    const key = formatObjectRef(stored.ref);
    const before = [...(partNames.get(key) ?? [])];
    const parts = referencedParts(stored);
    const names = parts.map(({ metadata }) => metadata.name);
    // All of them, until the earlier ones are removed: a failure leaves no Secret behind.
    if (before.length + names.length > 0) partNames.set(key, new Set([...before, ...names]));
    for (const part of parts) await secrets.write(part);
    await secrets.write(referencedSecret(stored));
    await removeParts(
      key,
      before.filter((name) => !names.includes(name)),
    );
  }

  async function removeParts(key: string, names: Iterable<string>): Promise<void> {
    for (const name of names) {
      await secrets.remove(name);
      const left = new Set(partNames.get(key));
      left.delete(name);
      if (left.size > 0) partNames.set(key, left);
      else partNames.delete(key);
    }
  }

  async function set({ packed, kind, name }: ReferencedObject): Promise<boolean> {
    const ref: ObjectRef = { kind, name };
    const key = formatObjectRef(ref);
    const current = entries.get(key);
    if (current !== undefined && current.known.digest === packed?.digest)
      return current.isStored || (await store(current));
    const object =
      packed === undefined
        ? current?.known.object
        : await unpackReferencedObject(ref, { digest: packed.digest, bytes: packed.content });
    const entry: Entry = {
      ref,
      known: {
        ...(object !== undefined && { object }),
        ...(packed !== undefined && { digest: packed.digest }),
      },
      isStored: false,
    };
    entries.set(key, entry);
    notify(ref);
    return await store(entry);
  }

  async function remove(ref: ObjectRef): Promise<void> {
    if (!entries.has(formatObjectRef(ref))) return;
    try {
      await secrets.remove(referencedSecretName(ref));
      const key = formatObjectRef(ref);
      await removeParts(key, [...(partNames.get(key) ?? [])]);
    } catch (thrown) {
      log.warn(
        { object: formatObjectRef(ref), err: messageOf(thrown) },
        "withdrawn object could not be deleted, retrying on the next connection",
      );
      return;
    }
    entries.delete(formatObjectRef(ref));
    notify(ref);
  }

  return {
    async load() {
      const parts = new Map<string, Secret>();
      for (const part of await secrets.list(referencedPartSelector)) {
        parts.set(part.metadata.name, part);
        const object = parseReferencedSecret(part);
        const key = object && formatObjectRef(object.ref);
        if (key !== undefined)
          partNames.set(key, new Set([...(partNames.get(key) ?? []), part.metadata.name]));
      }
      for (const secret of await secrets.list(referencedSelector)) {
        const stored = parseReferencedSecret(secret, (name) => parts.get(name));
        try {
          if (stored !== undefined) await restore(stored);
        } catch (thrown) {
          // It is not in the Hello, so the hub sends it again.
          log.warn(
            { secret: secret.metadata.name, err: messageOf(thrown) },
            "stored referenced object is not readable",
          );
        }
      }
    },
    get: (ref) => entries.get(formatObjectRef(ref))?.known,
    observed: () =>
      [...entries.values()].map(({ ref, known, isStored }) => ({
        kind: ref.kind,
        name: ref.name,
        // Without a digest the hub sends it again.
        ...(known.digest !== undefined && isStored && { digest: known.digest }),
      })),
    set: (object) => mutex.run(formatObjectRef(object), () => set(object)),
    remove: (ref) => mutex.run(formatObjectRef(ref), () => remove(ref)),
    onChange(listener) {
      listeners.push(listener);
    },
  };
}
