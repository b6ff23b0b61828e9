/** The last observed state of one Lease and when it was first observed, by a watch and by single reads. */

import type { Log } from "../../runtime/log/index.ts";
import type { Clock } from "../../runtime/time/index.ts";
import { createInformer } from "../cache/index.ts";
import type { KubeRest } from "../client/index.ts";
import { type Lease, leases, type ObjectRef } from "../objects/index.ts";

export interface Observed {
  /** `undefined`: it does not exist. */
  readonly lease: Lease | undefined;
  /** On the monotonic clock: when this state was first observed. */
  readonly at: number;
}

export interface LeaseWatch {
  /** `undefined` before the first list. */
  observed(): Observed | undefined;
  /** Adds a read; a state that was observed already keeps its time. */
  observe(lease: Lease | undefined): void;
  /** Returns the function that removes the listener. */
  onChange(listener: () => void): () => void;
  /** Called when the watch ended with an error. Returns the function that removes the listener. */
  onFailed(listener: () => void): () => void;
  run(signal: AbortSignal): Promise<void>;
}

export interface LeaseWatchOptions {
  readonly rest: KubeRest;
  readonly ref: Required<ObjectRef>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}

export function watchLease(options: LeaseWatchOptions): LeaseWatch {
  const { rest, ref, clock, random, log } = options;
  const listeners = new Set<() => void>();
  const failureListeners = new Set<() => void>();
  let observed: Observed | undefined;

  const informer = createInformer({
    rest,
    resource: leases,
    namespace: ref.namespace,
    fieldSelector: `metadata.name=${ref.name}`,
    onWatchFailed() {
      for (const listener of failureListeners) listener();
    },
    clock,
    random,
    log,
  });

  function observe(lease: Lease | undefined): void {
    const known = observed;
    const isKnown =
      known !== undefined &&
      known.lease?.metadata.resourceVersion === lease?.metadata.resourceVersion;
    if (isKnown) return;
    observed = { lease, at: clock.monotonic() };
    for (const listener of listeners) listener();
  }

  informer.onChange(({ after }) => observe(after));
  informer.synced.then(
    () => {
      if (observed === undefined) observe(undefined);
    },
    () => undefined,
  );

  return {
    observed: () => observed,
    observe,
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    onFailed(listener) {
      failureListeners.add(listener);
      return () => void failureListeners.delete(listener);
    },
    run: (signal) => informer.run(signal),
  };
}
