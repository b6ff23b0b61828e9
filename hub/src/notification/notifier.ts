/** From the events of controllers to the outboxes of the Providers whose Alerts select them. On every replica. */
import { randomUUID } from "node:crypto";
import type { Alert } from "@flotilla/shared/flux";
import type { Store } from "@flotilla/shared/kube/cache";
import type { EventNote, EventRecorder } from "@flotilla/shared/kube/events";
import { type KubeObject, keyOf } from "@flotilla/shared/kube/objects";
import { type Clock, delay } from "@flotilla/shared/time";
import { eventKey, type ObservedEvent, type Reporter, toObservedEvent } from "./event.ts";
import { isNotified } from "./kinds.ts";
import { type MatchRules, matchAlert, type Remark } from "./match.ts";
import type { NotificationMetrics } from "./metrics.ts";
import { isWrittenAlert } from "./objects.ts";
import type { Outbox } from "./outbox.ts";
import type { RecentEvents } from "./recent-events.ts";

export interface Notifier {
  /** Sends an event to the Alerts that select it. Never fails and never waits. */
  notify(regarding: KubeObject, note: EventNote): void;
  /**
   * Resolves when the events so far are stored, so that a crash loses none of them; after some seconds in any case: an API
   * server that rejects them must not stop everything else.
   */
  stored(): Promise<void>;
}

export interface NotifierDeps {
  readonly alerts: Pick<Store<Alert>, "list">;
  readonly outbox: Pick<Outbox, "add">;
  readonly rules: MatchRules;
  readonly recent: RecentEvents;
  readonly reporter: Reporter;
  /** For remarks on Alerts. */
  readonly events: EventRecorder;
  readonly metrics: Pick<NotificationMetrics, "events">;
  readonly clock: Clock;
}

const longestWaitMs = 5_000;

export function createNotifier(deps: NotifierDeps): Notifier {
  const { alerts, outbox, rules, recent, metrics, clock } = deps;
  const storing = new Set<Promise<void>>();

  function dispatch(observed: ObservedEvent): boolean {
    let isSelected = false;
    for (const alert of alerts.list().filter(isWrittenAlert)) {
      const matched = matchAlert(alert, observed, rules);
      for (const remark of matched.remarks) recordRemark(alert, remark);
      if (matched.kind === "no") continue;
      isSelected = true;
      const { namespace = "" } = alert.metadata;
      const provider = keyOf({ namespace, name: alert.spec.providerRef.name });
      const entry = { id: randomUUID(), alert: keyOf(alert), event: matched.event };
      const stored: Promise<void> = outbox
        .add(provider, entry)
        .finally(() => storing.delete(stored));
      storing.add(stored);
    }
    return isSelected;
  }

  function recordRemark(alert: Alert, remark: Remark): void {
    deps.events.record(alert, { type: "Warning", action: "MatchEvent", ...remark });
  }

  return {
    notify(regarding, note) {
      const { apiVersion = "", kind = "" } = regarding;
      if (!isNotified(apiVersion, kind)) return;
      const observed = toObservedEvent(regarding, note, deps.reporter, clock.now());
      if (!recent.isNew(eventKey(observed))) {
        metrics.events.inc({ result: "repeated" });
        return;
      }
      metrics.events.inc({ result: dispatch(observed) ? "selected" : "unselected" });
    },
    async stored() {
      if (storing.size === 0) return;
      const ending = new AbortController();
      await Promise.race([
        Promise.allSettled(storing),
        delay(clock, longestWaitMs, ending.signal),
      ]).finally(() => ending.abort());
    },
  };
}

/** A recorder whose Kubernetes Events are notifications, too. */
export function notifyingRecorder(
  recorder: EventRecorder,
  notifier: Pick<Notifier, "notify">,
): EventRecorder {
  return {
    record(regarding, note) {
      recorder.record(regarding, note);
      notifier.notify(regarding, note);
    },
    flush: recorder.flush,
  };
}
