/** Starting several parts of a fleet at once, so that none of them comes up behind one that failed. */

/**
 * Resolves and rejects as `Promise.all` does, but only once all of them have ended: whoever clears up after a failure finds
 * everything that was started, and nothing is started after that.
 */
export async function startTogether<T extends readonly unknown[] | []>(
  starts: T,
): Promise<{ -readonly [Index in keyof T]: Awaited<T[Index]> }> {
  await Promise.allSettled(starts);
  return Promise.all(starts);
}
