/** Keys that are added to the work queue later: a heap by due time, and one timer for its head. */
import type { Clock, Timer } from "../../runtime/time/index.ts";
import type { ObjectKey } from "../objects/index.ts";

export interface DelayQueue {
  /** How many keys are delayed. */
  readonly size: number;
  /** For several delays of one key the earliest counts. */
  push(key: ObjectKey, delayMs: number): void;
  clear(): void;
}

interface Entry {
  readonly key: ObjectKey;
  readonly dueAt: number;
}

/** `ready` is called with each key when it is due. */
export function createDelayQueue(clock: Clock, ready: (key: ObjectKey) => void): DelayQueue {
  /** May have entries that an earlier one for the same key has replaced; they are dropped when they reach the head. */
  const heap: Entry[] = [];
  const dueAt = new Map<ObjectKey, number>();
  let timer: Timer | undefined;
  let timerDueAt = Number.POSITIVE_INFINITY;

  function arm(): void {
    const head = heap[0];
    if (head === undefined || head.dueAt >= timerDueAt) return;
    timer?.cancel();
    timerDueAt = head.dueAt;
    timer = clock.setTimeout(fire, Math.max(0, head.dueAt - clock.monotonic()));
  }

  function fire(): void {
    timerDueAt = Number.POSITIVE_INFINITY;
    const now = clock.monotonic();
    for (let head = heap[0]; head !== undefined && head.dueAt <= now; head = heap[0]) {
      removeHead(heap);
      if (dueAt.get(head.key) !== head.dueAt) continue;
      dueAt.delete(head.key);
      ready(head.key);
    }
    arm();
  }

  return {
    get size() {
      return dueAt.size;
    },
    push(key, delayMs) {
      const due = clock.monotonic() + delayMs;
      const known = dueAt.get(key);
      if (known !== undefined && known <= due) return;
      dueAt.set(key, due);
      insert(heap, { key, dueAt: due });
      arm();
    },
    clear() {
      timer?.cancel();
      timerDueAt = Number.POSITIVE_INFINITY;
      heap.length = 0;
      dueAt.clear();
    },
  };
}

function insert(heap: Entry[], entry: Entry): void {
  let at = heap.length;
  heap.push(entry);
  while (at > 0) {
    const parent = (at - 1) >> 1;
    const above = heap[parent];
    if (above === undefined || above.dueAt <= entry.dueAt) break;
    heap[at] = above;
    at = parent;
  }
  heap[at] = entry;
}

function removeHead(heap: Entry[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let at = 0;
  for (;;) {
    const left = heap[2 * at + 1];
    if (left === undefined) break;
    const right = heap[2 * at + 2];
    const takesRight = right !== undefined && right.dueAt < left.dueAt;
    const child = takesRight ? right : left;
    if (child.dueAt >= last.dueAt) break;
    heap[at] = child;
    at = 2 * at + (takesRight ? 2 : 1);
  }
  heap[at] = last;
}
