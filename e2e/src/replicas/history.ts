/** Everything that a watch told of the objects of one kind, in order, so that a test can look for what must not have been. */
import { createInformer } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import {
  type KubeObject,
  keyOf,
  type ObjectKey,
  type Resource,
} from "@flotilla/shared/kube/objects";
import { silentLog } from "@flotilla/shared/log";

export interface History<T extends KubeObject> {
  /** How much there is: what a test does next comes behind it. */
  readonly length: number;
  /** The objects that were ever told of. */
  readonly keys: readonly ObjectKey[];
  /** What an object came to be, one after the other, from a point on and with what it was there. */
  of(key: ObjectKey, from?: number): readonly T[];
  /** All objects as they came, from a point on. */
  since(from: number): readonly T[];
}

export interface Recorder {
  record<T extends KubeObject>(resource: Resource<T>): Promise<History<T>>;
  stop(): Promise<void>;
}

export function createRecorder(rest: KubeRest): Recorder {
  const ending = new AbortController();
  const running: Promise<void>[] = [];
  return {
    async record<T extends KubeObject>(resource: Resource<T>): Promise<History<T>> {
      const entries: T[] = [];
      const informer = createInformer<T>({ rest, resource, log: silentLog() });
      informer.onChange(({ after }) => {
        if (after !== undefined) entries.push(after);
      });
      running.push(informer.run(ending.signal));
      await informer.synced;
      const of = (key: ObjectKey, from = 0): readonly T[] => {
        const own = (part: readonly T[]) => part.filter((object) => keyOf(object) === key);
        return [...own(entries.slice(0, from)).slice(-1), ...own(entries.slice(from))];
      };
      return {
        get length() {
          return entries.length;
        },
        get keys() {
          return [...new Set(entries.map((object) => keyOf(object)))];
        },
        of,
        since: (from) => entries.slice(from),
      };
    },
    async stop() {
      ending.abort();
      await Promise.all(running);
    },
  };
}

/** What is told one after the other, without repetitions. */
export function steps<T, S>(list: readonly T[], tell: (entry: T) => S): readonly S[] {
  return list.map(tell).filter((step, index, all) => index === 0 || step !== all[index - 1]);
}

/** Whether a number never goes back. */
export function isRising(numbers: readonly number[]): boolean {
  return numbers.every((number, index) => index === 0 || number >= (numbers[index - 1] ?? 0));
}
