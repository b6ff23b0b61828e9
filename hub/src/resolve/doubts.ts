/**
 * Pins that an agent could not fetch: their source is read once more, since its index may have been corrected. However
 * many agents complain, and however often, the source is asked ever more seldom.
 */

import type { ObjectKey } from "@flotilla/shared/kube/objects/object.ts";
import type { Clock } from "@flotilla/shared/time/clock.ts";

export interface Doubts {
  /** Whether to look once more; false when that was done a moment ago, and the agents' next try says it again. */
  raise(helmOp: ObjectKey): boolean;
  /** Whether there is one, which counts as looked into from then on. */
  take(helmOp: ObjectKey): boolean;
  /** Something else is asked for or pinned: what was doubted is of no interest any more. */
  forget(helmOp: ObjectKey): void;
}

/** A little less than an agent waits before it tries again. */
const firstRestMs = 4_000;
const longestRestMs = 5 * 60_000;

interface Doubt {
  isOpen: boolean;
  count: number;
  /** Monotonic, ms. */
  restsUntil: number;
}

export function createDoubts(clock: Pick<Clock, "monotonic">): Doubts {
  const doubts = new Map<ObjectKey, Doubt>();
  return {
    raise(helmOp) {
      const now = clock.monotonic();
      const doubt = doubts.get(helmOp) ?? { isOpen: false, count: 0, restsUntil: now };
      if (now < doubt.restsUntil) return false;
      doubt.isOpen = true;
      doubt.restsUntil =
        now + Math.min(longestRestMs, firstRestMs * 2 ** Math.min(doubt.count, 10));
      doubt.count += 1;
      doubts.set(helmOp, doubt);
      return true;
    },
    take(helmOp) {
      const doubt = doubts.get(helmOp);
      if (doubt?.isOpen !== true) return false;
      doubt.isOpen = false;
      return true;
    },
    forget: (helmOp) => void doubts.delete(helmOp),
  };
}
