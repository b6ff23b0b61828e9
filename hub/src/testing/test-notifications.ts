/** The notifications of a replica, whose events the test sends itself. */
import type { KubeRest } from "@flotilla/shared/kube/client";
import type { EventRecorder } from "@flotilla/shared/kube/events";
import { silentLog } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import { Registry } from "prom-client";
import type { FluxInformers } from "../base/cache/flux-caches.ts";
import { createNotifications, type Notifications } from "../events/notification/notifications.ts";
import type { SendEvent } from "../events/notification/sender.ts";

export function createTestNotifications(deps: {
  readonly rest: KubeRest;
  readonly informers: Pick<FluxInformers, "alerts" | "providers">;
  readonly recorder: EventRecorder;
  readonly send: SendEvent;
  readonly clock: Clock;
}): Notifications {
  const { rest, informers, recorder, send, clock } = deps;
  return createNotifications({
    rest,
    alerts: informers.alerts,
    providers: informers.providers,
    recorder,
    reporter: { controller: "flotilla-hub", instance: "hub-0" },
    crossNamespace: false,
    egress: {},
    userAgent: "flotilla-test",
    metrics: new Registry(),
    clock,
    log: silentLog(),
    send,
  });
}
