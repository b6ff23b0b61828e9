/**
 * Keys in their order, so that "the first ten" is the same ten whatever happened in which order, and costs the same among
 * ten thousand as among twenty.
 */

export interface SortedKeys extends Iterable<string> {
  readonly size: number;
  /** At most `count` of them. */
  first(count: number): readonly string[];
}

export interface MutableSortedKeys extends SortedKeys {
  /** Does nothing when the key exists already. */
  add(key: string): void;
  /** Nothing happens when it is not there. */
  delete(key: string): void;
}

/** Keys are kept in runs of at most this many, so that a change moves few of them. */
const longestRun = 256;

export function createSortedKeys(): MutableSortedKeys {
  return new Runs();
}

/** A class, because each cluster has some, and an object with a getter of its own takes several times as much memory. */
class Runs implements MutableSortedKeys {
  /** None is empty. */
  readonly #runs: string[][] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  first(count: number): readonly string[] {
    const found: string[] = [];
    for (const run of this.#runs) {
      if (found.length >= count) break;
      found.push(...run.slice(0, count - found.length));
    }
    return found;
  }

  add(key: string): void {
    const runs = this.#runs;
    if (runs.length === 0) runs.push([]);
    const at = this.#runFor(key);
    const run = runs[at];
    if (run === undefined) return;
    const index = placeIn(run, key);
    if (run[index] === key) return;
    run.splice(index, 0, key);
    this.#size += 1;
    if (run.length > longestRun) runs.splice(at + 1, 0, run.splice(longestRun / 2));
  }

  delete(key: string): void {
    const at = this.#runFor(key);
    const run = this.#runs[at];
    if (run === undefined) return;
    const index = placeIn(run, key);
    if (run[index] !== key) return;
    run.splice(index, 1);
    this.#size -= 1;
    if (run.length === 0) this.#runs.splice(at, 1);
  }

  *[Symbol.iterator](): Iterator<string> {
    for (const run of this.#runs) yield* run;
  }

  /** The first run whose last key is not before this one; the last run where all are. */
  #runFor(key: string): number {
    const runs = this.#runs;
    const at = firstNotBefore(runs.length, (index) => runs[index]?.at(-1) ?? "", key);
    return Math.min(at, runs.length - 1);
  }
}

function placeIn(run: readonly string[], key: string): number {
  return firstNotBefore(run.length, (index) => run[index] ?? "", key);
}

function firstNotBefore(length: number, keyAt: (index: number) => string, key: string): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (keyAt(middle) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
