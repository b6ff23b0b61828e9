/** What the leader's work is done with. */

import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import type { EventRecorder } from "@flotilla/shared/kube/events/events.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import type { Resolver } from "@flotilla/shared/source/client/source-client.ts";
import type { Clock } from "@flotilla/shared/time/clock.ts";
import type { Registry } from "prom-client";
import type { Caches } from "../cache/caches.ts";
import type { ContentStore } from "../content/content-store.ts";
import type { SeriesBook } from "../metrics/series.ts";
import type { WorkspaceObjects } from "../referenced/workspace-objects.ts";
import type { PinSeals } from "../resolve/pin-signature.ts";

export interface ControlDeps {
  /** Refuses writes once the leadership is lost. */
  readonly rest: KubeRest;
  readonly caches: Caches;
  readonly contents: ContentStore;
  /** Names the hub. */
  readonly hubId: string;
  readonly seals: PinSeals;
  readonly objects: WorkspaceObjects;
  readonly resolver: Resolver;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Registry;
  /** For metrics with a series for each object. */
  readonly series: SeriesBook;
}
