/** An object as agents get it: packed for the keys that their deployments use, once for all agents that use the same. */
import { createLruCache } from "@flotilla/shared/cache";
import { type Packed, packedDigest } from "@flotilla/shared/content";
import {
  packReferencedObject,
  type ReferencedObjectData,
  type UsedKeys,
} from "@flotilla/shared/referenced";

export interface SentObject {
  /** What agents get of it. */
  part(used: UsedKeys): ReferencedObjectData;
  /** The digest of what `pack` makes, without compressing. */
  digest(used: UsedKeys): string;
  pack(used: UsedKeys): Promise<Packed>;
}

/** Tenants choose what their deployments use, so not all that was ever asked for is kept. */
const [maxPacked, maxDigests] = [8, 1_000];

export function createSentObject(object: ReferencedObjectData): SentObject {
  const digests = createLruCache<string>(maxDigests);
  const packed = createLruCache<Promise<Packed>>(maxPacked);
  return {
    part: (used) => usedPart(object, used),
    digest(used) {
      const key = cacheKey(used);
      const known = digests.get(key) ?? packedDigest(usedPart(object, used));
      digests.set(key, known);
      return known;
    },
    pack(used) {
      const key = cacheKey(used);
      const known = packed.get(key) ?? packReferencedObject(usedPart(object, used));
      packed.set(key, known);
      return known;
    },
  };
}

/** Its type, labels and annotations are for copies of the whole. Pure. */
export function usedPart(object: ReferencedObjectData, used: UsedKeys): ReferencedObjectData {
  if (used === "whole") return object;
  const data = only(used, object.data);
  const binaryData = only(used, object.binaryData);
  return { ...(data !== undefined && { data }), ...(binaryData !== undefined && { binaryData }) };
}

/** Undefined: none of the keys is there. */
function only(
  keys: readonly string[],
  texts: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> | undefined {
  const kept = keys
    .filter((key) => Object.hasOwn(texts, key))
    .map((key) => [key, texts[key] ?? ""]);
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

function cacheKey(used: UsedKeys): string {
  return used === "whole" ? used : JSON.stringify(used);
}
