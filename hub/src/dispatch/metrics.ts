/** What the hand-out counts. */
import { Counter, Gauge, type Registry } from "prom-client";

export interface DispatchMetrics {
  readonly agents: Gauge;
  readonly arriving: Gauge;
  readonly disconnected: Counter;
  readonly sent: Counter<"kind">;
  readonly reports: Counter;
}

export function createDispatchMetrics(registry: Registry): DispatchMetrics {
  const registers = [registry];
  return {
    agents: new Gauge({
      name: "flotilla_hub_agents",
      help: "Agents connected to this replica.",
      registers,
    }),
    arriving: new Gauge({
      name: "flotilla_hub_arriving",
      help: "Agents that said Hello and are not welcomed yet: their arrival is being written, or waits for that.",
      registers,
    }),
    disconnected: new Counter({
      name: "flotilla_hub_disconnected_total",
      help: "Streams of welcomed agents that ended, whatever the reason.",
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
