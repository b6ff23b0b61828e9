/** What a search field finds. Pure. */

/** Whether each word of `search` occurs in one of the texts, in capital or small letters. */
export function matchesText(texts: readonly string[], search: string): boolean {
  const all = texts.map((text) => text.toLowerCase());
  return search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "")
    .every((word) => all.some((text) => text.includes(word)));
}
