/** What each controller of the hub is built from. */

import type { KubeRest } from "@flotilla/shared/kube/client";
import type { EventRecorder } from "@flotilla/shared/kube/events";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import type { Registry } from "prom-client";
import type { Caches } from "./caches.ts";

/** The part of an informer that controllers use: what it has, and what changes. */
export type WatchedCaches = {
  readonly [K in Exclude<keyof Caches, "tokens" | "replicas">]: Pick<
    Caches[K],
    "store" | "onChange"
  >;
} & { readonly tokens: Pick<Caches["tokens"], "store"> };

export interface ControllerDeps {
  /** Rejects writes after the leadership is lost. */
  readonly rest: KubeRest;
  readonly caches: WatchedCaches;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Registry;
}
