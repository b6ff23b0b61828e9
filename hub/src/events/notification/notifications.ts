/** Notifications of one replica of the hub, put together. */

import { hubNamespace } from "@flotilla/shared/api/names";
import { untilAborted } from "@flotilla/shared/concurrency";
import type { Alert, Provider } from "@flotilla/shared/flux";
import { fluxReason } from "@flotilla/shared/flux/reasons";
import type { Informer } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import type { EventRecorder } from "@flotilla/shared/kube/events";
import type { Log } from "@flotilla/shared/log";
import { createPatterns } from "@flotilla/shared/regex";
import {
  createConnectionPools,
  type EgressPolicy,
  type ProxySettings,
} from "@flotilla/shared/source/transport";
import type { Clock } from "@flotilla/shared/time";
import type { Registry } from "prom-client";
import type { AlertCheckInput } from "./alert-check.ts";
import { checkAlerts } from "./check-alerts.ts";
import { runDelivery } from "./delivery.ts";
import type { Reporter } from "./event.ts";
import { createNotificationMetrics } from "./metrics.ts";
import { createNotifier, type Notifier, notifyingRecorder } from "./notifier.ts";
import { createStatusObserver, type StatusObserver } from "./observer.ts";
import { Outbox } from "./outbox.ts";
import { createParseHeaders } from "./provider-settings.ts";
import { createRecentEvents } from "./recent-events.ts";
import { createSender, type SendEvent } from "./sender.ts";

export interface Notifications extends Pick<Notifier, "stored"> {
  /** A recorder whose Kubernetes Events are notifications, too. */
  readonly events: EventRecorder;
  readonly observer: StatusObserver;
  /** Watches until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** Delivers what all replicas have stored, until `signal` aborts. For the leader alone. */
  deliver(objectsOf: AlertCheckInput["objectsOf"], signal: AbortSignal): Promise<void>;
  /** Stores what waits. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

export interface NotificationsDeps {
  readonly rest: KubeRest;
  readonly alerts: Informer<Alert>;
  readonly providers: Informer<Provider>;
  /** Records Kubernetes Events. */
  readonly recorder: EventRecorder;
  readonly reporter: Reporter;
  /** Whether Alerts may name objects of other namespaces. */
  readonly crossNamespace: boolean;
  readonly egress: EgressPolicy;
  readonly proxy?: ProxySettings | undefined;
  readonly userAgent: string;
  readonly metrics: Registry;
  readonly clock: Clock;
  readonly log: Log;
  /** For tests: in place of requests to Providers. */
  readonly send?: SendEvent;
}

const connectTimeoutMs = 10_000;
/** Longer than the usual timeout of a Provider, which ends a request. */
const idleTimeoutMs = 60_000;
const maxPools = 128;

export function createNotifications(deps: NotificationsDeps): Notifications {
  const { rest, alerts, providers, recorder, crossNamespace, clock, log } = deps;
  const pools = createConnectionPools({
    ...(deps.proxy !== undefined && { proxy: deps.proxy }),
    connectTimeoutMs,
    idleTimeoutMs,
    maxPools,
    connectionsPerHost: 4,
    egress: deps.egress,
  });
  const outbox = new Outbox({
    rest,
    clock,
    log,
    namespace: hubNamespace,
    onDropped(provider, entries) {
      metrics.dropped.inc({ why: "full" }, entries.length);
      log.warn({ provider, dropped: entries.length }, "the outbox of a Provider is full");
      for (const key of new Set(entries.map(({ alert }) => alert))) {
        const alert = alerts.store.get(key);
        if (alert !== undefined)
          recorder.record(alert, {
            type: "Warning",
            reason: fluxReason.notificationDispatchFailed,
            action: "StoreEvent",
            note: `the oldest events for Provider ${provider} are dropped: it takes none, and too many wait`,
          });
      }
    },
  });
  const metrics = createNotificationMetrics(deps.metrics, () =>
    outbox.providers().reduce((sum, provider) => sum + outbox.entries(provider).length, 0),
  );
  const notifier = createNotifier({
    alerts: alerts.store,
    outbox,
    rules: { crossNamespace, patterns: createPatterns() },
    recent: createRecentEvents(clock),
    reporter: deps.reporter,
    events: recorder,
    metrics,
    clock,
  });
  const events = notifyingRecorder(recorder, notifier);
  const send = deps.send ?? createSender({ pools, userAgent: deps.userAgent, clock });

  return {
    events,
    observer: createStatusObserver({ events, notifier }),
    stored: notifier.stored,
    run: (signal) => outbox.run(signal),
    async deliver(objectsOf, signal) {
      await Promise.race([outbox.refresh(signal), untilAborted(signal)]);
      const common = { ...deps, events: recorder };
      await Promise.all([
        runDelivery(
          {
            ...common,
            outbox,
            send,
            metrics,
            alerts: alerts.store,
            providers: providers.store,
            parseHeaders: createParseHeaders(),
          },
          signal,
        ),
        checkAlerts({ ...common, objectsOf }, signal),
      ]);
    },
    flush: () => outbox.flush(),
    close: pools.close,
  };
}
