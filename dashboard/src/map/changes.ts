/** What changes in a cluster's tile beside its state: the versions and states of its releases, as a number. Pure. */
import type { Row } from "../fleet/index.ts";

/** By column: another number as soon as a release of it has another state or version. */
export function fingerprintsOf(rows: Iterable<Row>, columns: number): Uint32Array {
  const prints = new Uint32Array(columns);
  for (const { states, versionOf, versions } of rows) {
    const hashes = versions.map(hashOf);
    for (const [column, state] of states.entries()) {
      if (state === 0) continue;
      const version = hashes[(versionOf[column] ?? 0) - 1] ?? 0;
      prints[column] = Math.imul(prints[column] ?? 0, 31) + Math.imul(version, 7) + state;
    }
  }
  return prints;
}

/** The columns that differ; none where there was no column before. */
export function changedColumns(before: Uint32Array, after: Uint32Array): readonly number[] {
  const changed: number[] = [];
  for (let column = 0; column < Math.min(before.length, after.length); column += 1)
    if (before[column] !== after[column]) changed.push(column);
  return changed;
}

function hashOf(text: string): number {
  let hash = 0;
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash, 33) + text.charCodeAt(index);
  return hash;
}
