/** A packed content in the pieces that Secrets hold. Pure. */

/** Bytes of one part. A Secret holds 1 MiB with everything in it. */
export const partBytes = 900 * 1024;

/** In how many parts a content lies: at least one, also when it is empty. */
export function partCount(content: Uint8Array): number {
  return Math.max(1, Math.ceil(content.length / partBytes));
}

/** In order; put one after the other they are the content again. */
export function contentParts(content: Uint8Array): readonly Uint8Array[] {
  return Array.from({ length: partCount(content) }, (_, part) =>
    content.subarray(part * partBytes, (part + 1) * partBytes),
  );
}
