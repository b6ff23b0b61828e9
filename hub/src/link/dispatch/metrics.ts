/**
 * How many agents this replica serves, and how much it exchanges with them. All are about this process alone: the sum over the
 * replicas is the hub's, and counters begin at 0 with the process.
 */
import { Counter, Gauge, type Registry } from "prom-client";

export interface DispatchMetrics {
  readonly agents: Gauge;
  readonly connecting: Gauge;
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
    connecting: new Gauge({
      name: "flotilla_hub_connecting_agents",
      help: "Agents whose connection is being recorded in the Cluster's status, or waits for that.",
      registers,
    }),
    disconnected: new Counter({
      name: "flotilla_hub_disconnected_total",
      help: "Streams of connected agents that ended, for whatever reason.",
      registers,
    }),
    sent: new Counter({
      name: "flotilla_hub_sent_total",
      help: "Messages with desired state sent to agents, by kind.",
      labelNames: ["kind"],
      registers,
    }),
    reports: new Counter({
      name: "flotilla_hub_reports_total",
      help: "Deployment states reported by agents.",
      registers,
    }),
  };
}
