/** Matching with wildcards in time that is proportional to pattern and text: of characters, and of the names of a path. Pure. */

export interface Wildcards<Part, Item> {
  /** Matches any number of items. */
  isWildcard(part: Part): boolean;
  matches(part: Part, item: Item): boolean;
}

/** The number of parts that match all items, from the first on; undefined if no number does. The parts behind them are left. */
export function partsThatMatch<Part, Item>(
  parts: readonly Part[],
  items: readonly Item[],
  wildcards: Wildcards<Part, Item>,
): number | undefined {
  return walk(parts, items, { ...wildcards, isShortest: false })?.next;
}

/** The smallest number of items, from the first on, that all parts match; undefined if they match none of these numbers. */
export function shortestMatch<Part, Item>(
  parts: readonly Part[],
  items: readonly Item[],
  wildcards: Wildcards<Part, Item>,
): number | undefined {
  const end = walk(parts, items, { ...wildcards, isShortest: true });
  return end?.next === parts.length ? end.at : undefined;
}

interface Walk<Part, Item> extends Wildcards<Part, Item> {
  /** Ends as soon as all parts have matched. */
  readonly isShortest: boolean;
}

/** Undefined: no part can match the next item. */
function walk<Part, Item>(
  parts: readonly Part[],
  items: readonly Item[],
  { isWildcard, matches, isShortest }: Walk<Part, Item>,
): { readonly at: number; readonly next: number } | undefined {
  let at = 0;
  let next = 0;
  let retry: { at: number; next: number } | undefined;
  // Only the last wildcard has to be tried again with one item more.
  for (let item = items[at]; item !== undefined; item = items[at]) {
    if (isShortest && next === parts.length) break;
    const part = parts[next];
    if (part !== undefined && isWildcard(part)) {
      next++;
      retry = { at, next };
    } else if (part !== undefined && matches(part, item)) {
      at++;
      next++;
    } else if (retry !== undefined) {
      retry = { at: retry.at + 1, next: retry.next };
      ({ at, next } = retry);
    } else return undefined;
  }
  return { at, next };
}
