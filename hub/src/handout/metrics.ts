/** What the hand-out counts. */
import { Counter, Gauge, type Registry } from "prom-client";

export interface HandoutMetrics {
  readonly agents: Gauge;
  readonly sent: Counter<"kind">;
  readonly reports: Counter;
}

export function createHandoutMetrics(registry: Registry): HandoutMetrics {
  const registers = [registry];
  return {
    agents: new Gauge({
      name: "flotilla_hub_agents",
      help: "Agents connected to this replica.",
      registers,
    }),
    sent: new Counter({
      name: "flotilla_hub_sent_total",
      help: "Deployments, supplies, withdrawals of both, and facts sent to agents.",
      labelNames: ["kind"],
      registers,
    }),
    reports: new Counter({
      name: "flotilla_hub_reports_total",
      help: "States of deployments that agents reported.",
      registers,
    }),
  };
}
