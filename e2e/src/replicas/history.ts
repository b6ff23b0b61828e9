/** All states of the objects of one kind that a watch has delivered, in order. */
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
  /** A point in it: later states come after it. */
  readonly length: number;
  /** The keys of all objects that the watch has delivered. */
  readonly keys: readonly ObjectKey[];
  /** The states of an object from a point on, and the one at that point. */
  of(key: ObjectKey, from?: number): readonly T[];
  /** The states of all objects, from a point on. */
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

/** The values of a list, without consecutive repetitions. */
export function distinctSteps<T, S>(list: readonly T[], select: (entry: T) => S): readonly S[] {
  return list.map(select).filter((step, index, all) => index === 0 || step !== all[index - 1]);
}

/** Whether no number is smaller than the one before. */
export function isRising(numbers: readonly number[]): boolean {
  return numbers.every((number, index) => index === 0 || number >= (numbers[index - 1] ?? 0));
}
