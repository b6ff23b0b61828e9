/** How many calls of each caller are open. */

export interface CallLimit {
  /** `undefined` when there are too many already; else to be called when the call has ended. */
  acquire(who: string): (() => void) | undefined;
}

export function createCallLimit(most: number): CallLimit {
  const counts = new Map<string, number>();
  return {
    acquire(who) {
      const count = counts.get(who) ?? 0;
      if (count >= most) return undefined;
      counts.set(who, count + 1);
      let hasLeft = false;
      return () => {
        if (hasLeft) return;
        hasLeft = true;
        const left = (counts.get(who) ?? 1) - 1;
        if (left === 0) counts.delete(who);
        else counts.set(who, left);
      };
    },
  };
}
