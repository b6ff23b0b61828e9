/** Metrics of replicas: how many hold their Lease, and which one leads. */
import { Gauge, type Registry } from "prom-client";
import type { Replicas } from "./replicas.ts";

/** Returns the function that sets whether this replica leads. */
export function registerReplicaMetrics(
  registry: Registry,
  replicas: Pick<Replicas, "alive">,
): (isLeading: boolean) => void {
  const registers = [registry];
  new Gauge({
    name: "flotilla_hub_replicas",
    help: "Replicas of the hub that hold their Lease, as this one observes them.",
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
  return (isLeading) => leader.set(isLeading ? 1 : 0);
}
