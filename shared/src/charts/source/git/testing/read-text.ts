/** For reads of files in tests. */

/** Contents as texts, with room for all of them at once. */
export const readText = {
  parse: (_: string, bytes: Buffer): string => bytes.toString(),
  maxTotalBytes: 1024 * 1024,
  reserve: <R>(_: number, work: () => Promise<R>): Promise<R> => work(),
};
