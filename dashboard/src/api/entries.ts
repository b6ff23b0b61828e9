/** What an agent answers as lines of JSON. Pure. */

/** The entries that have arrived as a whole: each ends with a newline. */
export function entriesOf<T>(text: string): readonly T[] {
  return text
    .slice(0, text.lastIndexOf("\n") + 1)
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as T);
}
