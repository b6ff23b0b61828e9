import type { SeriesRegistry } from "../metrics/index.ts";

/** All that a book of series says, as it comes. */
export async function piecesOf(book: Pick<SeriesRegistry, "text">): Promise<readonly string[]> {
  const pieces: string[] = [];
  for await (const piece of book.text()) pieces.push(piece);
  return pieces;
}
