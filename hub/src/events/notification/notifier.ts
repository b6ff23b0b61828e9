/** From the events of controllers to the outboxes of the Providers whose Alerts select them. On every replica. */
import { createHash, randomUUID } from "node:crypto";
import { createTimeSlices, type TimeSlices } from "@flotilla/shared/concurrency";
import type { Alert } from "@flotilla/shared/flux";
import type { Store } from "@flotilla/shared/kube/cache";
import type { EventNote, EventRecorder } from "@flotilla/shared/kube/events";
import { type KubeObject, keyOf } from "@flotilla/shared/kube/objects";
import { type Clock, delay } from "@flotilla/shared/time";
import { alertsFor } from "./alert-index.ts";
import { eventKey, type ObservedEvent, type Reporter, toObservedEvent } from "./event.ts";
import { isNotified } from "./kinds.ts";
import { type MatchRules, matchAlert, type Remark } from "./match.ts";
import type { NotificationMetrics } from "./metrics.ts";
import { createNamespaceBudgets } from "./namespace-budgets.ts";
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
  readonly alerts: Pick<Store<Alert>, "byIndex">;
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
/** Events whose Alerts are not found yet: more only while sources and expressions take as long as they may. */
const maxWaiting = 1_000;

export function createNotifier(deps: NotifierDeps): Notifier {
  const { alerts, outbox, rules, recent, metrics, clock } = deps;
  const sources = createNamespaceBudgets(clock);
  const expressions = createNamespaceBudgets(clock);
  const storing = new Set<Promise<void>>();
  /** One event after the other, so that they are stored in their order. */
  const waiting: ObservedEvent[] = [];
  let dispatching: Promise<void> | undefined;

  function enqueue(observed: ObservedEvent): void {
    if (waiting.length >= maxWaiting) {
      metrics.events.inc({ result: "dropped" });
      return;
    }
    waiting.push(observed);
    dispatching ??= dispatchWaiting();
  }

  async function dispatchWaiting(): Promise<void> {
    const slices = createTimeSlices();
    try {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
        await dispatch(next, slices);
    } finally {
      // In the same moment in which it has found nothing: later, an event might be added in between, which nobody dispatches.
      dispatching = undefined;
    }
  }

  /** Yields to the event loop between Alerts, and between events. */
  async function dispatch(observed: ObservedEvent, slices: TimeSlices): Promise<void> {
    const ofEvent = { sources: sources.begin(), expressions: expressions.begin() };
    let isSelected = false;
    for (const alert of alertsFor(alerts, observed.event)) {
      if (slices.isOver) await slices.pause();
      const { namespace = "" } = alert.metadata;
      const matched = matchAlert(alert, observed, rules, {
        sources: ofEvent.sources.of(namespace),
        expressions: ofEvent.expressions.of(namespace),
      });
      for (const remark of matched.remarks) recordRemark(alert, remark);
      if (matched.kind === "no") continue;
      isSelected = true;
      const provider = keyOf({ namespace, name: alert.spec.providerRef.name });
      const entry = { id: idOf(observed, alert), alert: keyOf(alert), event: matched.event };
      const stored: Promise<void> = outbox
        .add(provider, entry)
        .finally(() => storing.delete(stored));
      storing.add(stored);
    }
    ofEvent.sources.end();
    ofEvent.expressions.end();
    metrics.events.inc({ result: isSelected ? "selected" : "unselected" });
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
      enqueue(observed);
    },
    async stored() {
      if (storing.size === 0 && dispatching === undefined) return;
      const ending = new AbortController();
      const all = async () => {
        await dispatching;
        await Promise.allSettled(storing);
      };
      await Promise.race([all(), delay(clock, longestWaitMs, ending.signal)]).finally(() =>
        ending.abort(),
      );
    },
  };
}

/**
 * By its token an event is stored once, also when two leaders decide it one after the other. Without one nothing tells a repeated event
 * from a new one.
 */
function idOf({ event, token }: ObservedEvent, { metadata }: Alert): string {
  if (token === undefined) return randomUUID();
  const { involvedObject, reason } = event;
  const parts = [keyOf({ metadata }), metadata.uid, involvedObject.kind, involvedObject.uid];
  return createHash("sha256")
    .update(JSON.stringify([...parts, reason, token]))
    .digest("hex");
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
