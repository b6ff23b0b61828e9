/** How many replicas there are, and whether this one leads. */
import { Gauge, type Registry } from "prom-client";
import type { Replicas } from "./replicas.ts";

/** Gives what is told whether this replica leads. */
export function registerReplicaMetrics(
  registry: Registry,
  replicas: Pick<Replicas, "alive">,
): (leads: boolean) => void {
  const registers = [registry];
  new Gauge({
    name: "flotilla_hub_replicas",
    help: "Replicas of the hub that are there, as far as this one hears.",
    registers,
    collect() {
      this.set(replicas.alive());
    },
  });
  const leader = new Gauge({
    name: "flotilla_hub_leader",
    help: "Whether this replica leads: 1, else 0. The sum over all replicas is 1.",
    registers,
  });
  leader.set(0);
  return (leads) => leader.set(leads ? 1 : 0);
}
