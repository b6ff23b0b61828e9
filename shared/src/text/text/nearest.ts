/** Suggests known names for a misspelt one. Pure. */

/** Longer names are no misspelt fields; comparing them would only take time. */
const longestCompared = 64;

/** Up to `limit` names that differ by a few edits (letters omitted, added, changed or swapped), nearest first. */
export function nearest(name: string, known: Iterable<string>, limit = 1): readonly string[] {
  if (name.length > longestCompared) return [];
  const allowed = Math.max(1, Math.floor(name.length / 3));
  const lowerCased = name.toLowerCase();
  const near: { readonly name: string; readonly edits: number }[] = [];
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) > allowed) continue;
    const edits = distance(lowerCased, candidate.toLowerCase());
    if (edits <= allowed) near.push({ name: candidate, edits });
  }
  return near
    .sort((a, b) => a.edits - b.edits)
    .slice(0, limit)
    .map((candidate) => candidate.name);
}

/** Optimal string alignment distance: a swap of neighbours is one edit. */
function distance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1];
      const cost = Math.min(
        at(last, j) + 1,
        at(row, j - 1) + 1,
        at(last, j - 1) + (isSame ? 0 : 1),
        i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
          ? at(beforeLast, j - 2) + 1
          : Number.POSITIVE_INFINITY,
      );
      row.push(cost);
    }
    [beforeLast, last] = [last, row];
  }
  return at(last, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
