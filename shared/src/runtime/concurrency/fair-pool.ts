/**
 * A bounded pool of what unauthenticated callers have not completed, such as half-open connections. When it is full, one that
 * was admitted earlier makes room for a new one, so that those who leave theirs incomplete cannot keep others out: first of the
 * caller that has the most, then the oldest.
 */
import type { Clock } from "../time/index.ts";

export interface FairPool {
  /**
   * The function that releases the place; `undefined` when nothing makes room. `evict`: called when the place is taken away,
   * which releases it.
   */
  admit(caller: string, evict: () => void): (() => void) | undefined;
  readonly size: number;
}

export interface FairPoolLimits {
  readonly capacity: number;
  /**
   * How long a place is kept while its caller has no more than the new one: what completes at all completes within this time,
   * also when many callers come at once.
   */
  readonly keepMs: number;
}

interface Place {
  readonly caller: string;
  /** On the monotonic clock. */
  readonly since: number;
  readonly evict: () => void;
}

export function createFairPool(
  clock: Pick<Clock, "monotonic">,
  { capacity, keepMs }: FairPoolLimits,
): FairPool {
  /** Sets keep the order in which places were admitted. */
  const byCaller = new Map<string, Set<Place>>();
  /** The callers by the number of their places. */
  const byCount = new Map<number, Set<string>>();
  let size = 0;
  let most = 0;

  function recount(caller: string, before: number, after: number): void {
    const former = byCount.get(before);
    former?.delete(caller);
    if (former?.size === 0) byCount.delete(before);
    if (after > 0) {
      const callers = byCount.get(after) ?? new Set();
      byCount.set(after, callers.add(caller));
    }
    most = Math.max(most, after);
    while (most > 0 && !byCount.has(most)) most -= 1;
  }

  function remove(place: Place): void {
    const places = byCaller.get(place.caller);
    if (places?.delete(place) !== true) return;
    size -= 1;
    recount(place.caller, places.size + 1, places.size);
    if (places.size === 0) byCaller.delete(place.caller);
  }

  /** The oldest place of a caller that has the most. */
  function candidate(): Place | undefined {
    const [caller = ""] = byCount.get(most) ?? [];
    const [oldest] = byCaller.get(caller) ?? [];
    return oldest;
  }

  function makeRoom(caller: string): boolean {
    const own = byCaller.get(caller);
    // A caller that has as many places as any other gives up its own oldest one.
    const oldest = own?.size === most ? [...own.values().take(1)][0] : candidate();
    if (oldest === undefined) return false;
    const isUnfair = most > (own?.size ?? 0) + 1;
    if (!isUnfair && clock.monotonic() - oldest.since < keepMs) return false;
    remove(oldest);
    oldest.evict();
    return true;
  }

  return {
    admit(caller, evict) {
      if (size >= capacity && !makeRoom(caller)) return undefined;
      const place: Place = { caller, since: clock.monotonic(), evict };
      const places = byCaller.get(caller) ?? new Set();
      byCaller.set(caller, places.add(place));
      size += 1;
      recount(caller, places.size - 1, places.size);
      return () => remove(place);
    },
    get size() {
      return size;
    },
  };
}
