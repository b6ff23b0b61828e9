/** What a simulation puts on a hub: names and objects, from what was asked for. Pure. */
import type { Bootstrap } from "@flotilla/agent/identity/bootstrap.ts";
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";
import { apiVersion } from "@flotilla/shared/api/resources.ts";

/** On every simulated Cluster: the name of its simulation. Outside the domains that an agent may not label itself with. */
export const simulationLabel = "simulation";

/** A chart that nobody has to serve: an archive's address is taken as it is, and simulated agents download nothing. */
const chart = "https://charts.example.com/simulated-1.0.0.tgz";

/** What the agent of each cluster enrols with; `registration` is what they have in common. */
export function bootstrapsOf(
  simulation: string,
  agents: number,
  registration: Bootstrap,
): readonly Bootstrap[] {
  const labels = { [simulationLabel]: simulation };
  return Array.from({ length: agents }, (_, index) => ({
    ...registration,
    clusterName: `${simulation}-${index + 1}`,
    labels,
  }));
}

/** HelmOps that target all clusters of the simulation and no other. */
export function helmOpsOf(simulation: string, count: number, namespace: string): readonly HelmOp[] {
  return Array.from({ length: count }, (_, index) => {
    const name = `${simulation}-${index + 1}`;
    return {
      apiVersion,
      kind: "HelmOp",
      metadata: { namespace, name, labels: { [simulationLabel]: simulation } },
      spec: {
        helm: { chart },
        namespace: name,
        targets: [{ clusterSelector: { matchLabels: { [simulationLabel]: simulation } } }],
      },
    };
  });
}

/** A name that no earlier simulation has; `random`: from 0 up to 1. */
export function simulationName(random: number): string {
  const letters = Math.floor(random * 36 ** 5).toString(36);
  return `simulated-${letters.padStart(5, "0")}`;
}
