/**
 * Whether Alerts select the events of this replica, and whether providers take the notifications. A failed delivery is counted each
 * time and retried; what is counted as dropped nobody gets. Counters begin at 0 with the process.
 */
import { Counter, Gauge, type Registry } from "prom-client";

export interface NotificationMetrics {
  /** `result`: `selected`, `unselected`, `repeated` or `dropped`. */
  readonly events: Counter<"result">;
  readonly delivered: Counter<"type">;
  readonly failed: Counter<"type">;
  /** `why`: `full`, `expired`, `rejected`, `removed` or `unsupported`. */
  readonly dropped: Counter<"why">;
}

export function createNotificationMetrics(
  registry: Registry,
  waiting: () => number,
): NotificationMetrics {
  const registers = [registry];
  new Gauge({
    name: "flotilla_hub_notifications_waiting",
    help: "Notifications that are stored and not delivered yet.",
    registers,
    collect() {
      this.set(waiting());
    },
  });
  return {
    events: new Counter({
      name: "flotilla_hub_notification_events_total",
      help: "Events of this replica, by whether an Alert selected them, none did, they were repeated within five minutes, or were dropped because the expressions of Alerts take too long.",
      labelNames: ["result"],
      registers,
    }),
    delivered: new Counter({
      name: "flotilla_hub_notifications_delivered_total",
      help: "Notifications that a provider has taken, by its type.",
      labelNames: ["type"],
      registers,
    }),
    failed: new Counter({
      name: "flotilla_hub_notification_failures_total",
      help: "Failed deliveries of notifications, by the type of the provider. They are retried.",
      labelNames: ["type"],
      registers,
    }),
    dropped: new Counter({
      name: "flotilla_hub_notifications_dropped_total",
      help: "Notifications that nobody will get, by the reason: full, expired, rejected, removed or unsupported.",
      labelNames: ["why"],
      registers,
    }),
  };
}
