/**
 * What the hub supplied this cluster with, kept in the cluster itself: an agent without its hub goes on with it. Nothing
 * leaves here but by a withdrawal, also when the hub has lost the object that it came from.
 */
import type { ObjectRef, ObservedObject, ReferencedObject } from "@flotilla/proto/messages.ts";
import { formatObjectRef } from "@flotilla/shared/api/bundle-deployment.ts";
import { messageOf } from "@flotilla/shared/errors/app-error.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import {
  packReferencedObject,
  type ReferencedObjectData,
  unpackReferencedObject,
} from "@flotilla/shared/referenced/referenced-object.ts";
import type { OwnSecrets } from "../storage/own-secrets.ts";
import { createTurns } from "../storage/turns.ts";
import {
  type StoredSupply,
  storedSupply,
  supplySecret,
  supplySecretName,
  supplySelector,
} from "./supply-secret.ts";

export interface Supplies {
  /** Reads what is stored. To be called once, before anything else. */
  load(): Promise<void>;
  /**
   * `undefined`: nothing was heard of it yet. `digest` undefined: the hub has no such object now; `object` is then the
   * last that it had, if it ever had one.
   */
  get(ref: ObjectRef): KnownSupply | undefined;
  /** What is stored, for the hub to compare with what it has. */
  held(): readonly ObservedObject[];
  /**
   * What the hub sent: known at once; gives whether it could be stored. Redelivery changes nothing. Throws REFERENCED_OBJECT_INVALID.
   */
  take(supply: ReferencedObject): Promise<boolean>;
  drop(ref: ObjectRef): Promise<void>;
  onChange(listener: (ref: ObjectRef) => void): void;
}

export interface KnownSupply {
  readonly digest?: string;
  readonly object?: ReferencedObjectData;
}

export interface SuppliesDeps {
  readonly own: OwnSecrets;
  readonly log: Log;
}

interface Entry {
  readonly ref: ObjectRef;
  known: KnownSupply;
  /** Whether `known` is what is stored. */
  isStored: boolean;
}

export function createSupplies({ own, log }: SuppliesDeps): Supplies {
  const entries = new Map<string, Entry>();
  /** By key: what is sent anew while it is being deleted must not go with that. */
  const turns = createTurns();
  const listeners: ((ref: ObjectRef) => void)[] = [];

  function changed(ref: ObjectRef): void {
    for (const listener of listeners) listener(ref);
  }

  async function restore({ ref, packed, isGone }: StoredSupply): Promise<void> {
    const object = packed && (await unpackReferencedObject(ref, packed));
    entries.set(formatObjectRef(ref), {
      ref,
      known: {
        ...(object !== undefined && { object }),
        ...(packed !== undefined && !isGone && { digest: packed.digest }),
      },
      isStored: true,
    });
  }

  /** Gives whether it could be; it is sent again on the next stream where it could not. */
  async function store(entry: Entry): Promise<boolean> {
    const { ref, known } = entry;
    try {
      const packed = known.object && (await packReferencedObject(known.object));
      await own.write(
        supplySecret({
          ref,
          ...(packed !== undefined && { packed }),
          isGone: known.digest === undefined,
        }),
      );
    } catch (thrown) {
      log.warn(
        { supply: formatObjectRef(ref), err: messageOf(thrown) },
        "what the hub supplied is used, but was not stored: it is gone when the agent starts anew without its hub",
      );
      return false;
    }
    if (entry.known === known) entry.isStored = true;
    return true;
  }

  async function take({ packed, kind, name }: ReferencedObject): Promise<boolean> {
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
    changed(ref);
    return await store(entry);
  }

  async function drop(ref: ObjectRef): Promise<void> {
    if (!entries.has(formatObjectRef(ref))) return;
    try {
      await own.remove(supplySecretName(ref));
    } catch (thrown) {
      // It is still told as held, so the hub withdraws it again.
      log.warn(
        { supply: formatObjectRef(ref), err: messageOf(thrown) },
        "what the hub withdrew could not be deleted; it is tried again when the agent connects anew",
      );
      return;
    }
    entries.delete(formatObjectRef(ref));
    changed(ref);
  }

  return {
    async load() {
      for (const secret of await own.list(supplySelector)) {
        const stored = storedSupply(secret);
        try {
          if (stored !== undefined) await restore(stored);
        } catch (thrown) {
          // It is not told as held, so the hub sends it again.
          log.warn(
            { secret: secret.metadata.name, err: messageOf(thrown) },
            "stored supply is not readable",
          );
        }
      }
    },
    get: (ref) => entries.get(formatObjectRef(ref))?.known,
    held: () =>
      [...entries.values()].map(({ ref, known, isStored }) => ({
        kind: ref.kind,
        name: ref.name,
        // What is not stored is asked for again.
        ...(known.digest !== undefined && isStored && { digest: known.digest }),
      })),
    take: (supply) => turns.take(formatObjectRef(supply), () => take(supply)),
    drop: (ref) => turns.take(formatObjectRef(ref), () => drop(ref)),
    onChange(listener) {
      listeners.push(listener);
    },
  };
}
