/** The events of statuses: what controllers call before they write one. */
import type { Bundle, BundleStatus, Cluster, ClusterStatus } from "@flotilla/shared/api";
import type { BundleRollout, BundleRolloutStatus } from "@flotilla/shared/api/rollout";
import type { EventRecorder } from "@flotilla/shared/kube/events";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import type { Notifier } from "./notifier.ts";
import { rolloutEvents } from "./rollout-events.ts";
import { clusterEvents, type ReleaseStatus, releaseEvents } from "./status-events.ts";

/**
 * Each is called with the object as the API server has it and its next status. When the write is repeated, also by the next
 * leader, the events are the same: none is lost with a process.
 */
export interface StatusObserver {
  /** The object of a front end, such as a HelmOp. */
  release(object: KubeObject & { readonly status?: ReleaseStatus }, next: ReleaseStatus): void;
  bundle(bundle: Bundle, next: BundleStatus): void;
  cluster(cluster: Cluster, next: ClusterStatus): void;
  /** `app`: the object of a front end that the Bundle was made for; undefined: it is gone, or the Bundle is the app itself. */
  rollout(rollout: RolloutOf, next: BundleRolloutStatus): void;
}

/** A staged rollout with the objects that its events belong to. */
export interface RolloutOf {
  readonly rollout: BundleRollout;
  readonly bundle: Bundle;
  readonly app: KubeObject | undefined;
}

export function createStatusObserver(deps: {
  readonly events: Pick<EventRecorder, "record">;
  readonly notifier: Pick<Notifier, "notify">;
}): StatusObserver {
  const { events, notifier } = deps;
  return {
    release(object, next) {
      for (const note of releaseEvents(object, object.status, next)) events.record(object, note);
    },
    bundle(bundle, next) {
      for (const note of releaseEvents(bundle, bundle.status, next))
        if (isOfFrontEnd(bundle)) notifier.notify(bundle, note);
        else events.record(bundle, note);
    },
    cluster(cluster, next) {
      for (const note of clusterEvents(cluster, cluster.status, next)) events.record(cluster, note);
    },
    rollout({ rollout, bundle, app }, next) {
      for (const note of rolloutEvents(bundle, rollout, next))
        if (isOfFrontEnd(bundle)) notifier.notify(bundle, note);
        else events.record(bundle, note);
      if (app !== undefined)
        for (const note of rolloutEvents(app, rollout, next)) events.record(app, note);
    },
  };
}

/** Only a front end writes pins, and its object has the Kubernetes Events. */
function isOfFrontEnd({ spec }: Bundle): boolean {
  return (spec.helmOpOptions?.pins ?? []).length > 0;
}
