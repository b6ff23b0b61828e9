/** What a simulation puts on a hub: names and objects, from what was asked for. Pure. */
import type { Bootstrap } from "@flotilla/agent/identity/bootstrap.ts";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import type { ClusterRegistrationToken } from "@flotilla/shared/api/cluster-registration-token.ts";
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";
import { simulatedLabel } from "@flotilla/shared/api/names.ts";
import { apiVersion, clusterRegistrationTokens, helmOps } from "@flotilla/shared/api/resources.ts";

/** One run of `flotilla simulate`. */
export interface SimulationRun {
  /** Of the simulation, which its objects go by. */
  readonly name: string;
  /** Tells this run from every other of that name. */
  readonly id: string;
}

/** On every simulated Cluster: the name of its simulation, for targets. Anybody may use it, so it proves nothing. Outside the domains that an agent may not label itself with. */
export const simulationLabel = "simulation";

/** A chart that nobody has to serve: an archive's address is taken as it is, and simulated agents download nothing. */
const chart = "https://charts.example.com/simulated-1.0.0.tgz";

/** What the agent of each cluster enrols with; `registration` is what they have in common. */
export function bootstrapsOf(
  run: SimulationRun,
  agents: number,
  registration: Bootstrap,
): readonly Bootstrap[] {
  const labels = { [simulationLabel]: run.name };
  return numbered(run.name, agents).map((clusterName, index) => ({
    ...registration,
    clusterName,
    clientId: `${clientIdsOf(run.name, run.id)}${index + 1}`,
    labels,
  }));
}

/**
 * How client ids begin that the agents of one run enrol with; without a run, those of all runs of that name. A simulation's
 * Clusters are known by them: an agent cannot give its Cluster a label of the product's.
 */
export function clientIdsOf(simulation: string, runId?: string): string {
  return runId === undefined ? `simulation/${simulation}/` : `simulation/${simulation}/${runId}/`;
}

/** Clusters whose agents enrolled with client ids that begin so. */
export function clustersOf(clientIds: string, clusters: readonly Cluster[]): readonly Cluster[] {
  return clusters.filter(({ spec }) => spec.clientID?.startsWith(clientIds) === true);
}

export function tokenOf(simulation: string, namespace: string): ClusterRegistrationToken {
  return {
    apiVersion,
    kind: clusterRegistrationTokens.kind,
    metadata: { namespace, name: simulation, labels: { [simulatedLabel]: simulation } },
    spec: {},
  };
}

/** HelmOps that target all clusters of the simulation and no other. */
export function helmOpsOf(simulation: string, count: number, namespace: string): readonly HelmOp[] {
  return numbered(simulation, count).map((name) => ({
    apiVersion,
    kind: helmOps.kind,
    metadata: {
      namespace,
      name,
      labels: { [simulationLabel]: simulation, [simulatedLabel]: simulation },
    },
    spec: {
      helm: { chart },
      namespace: name,
      targets: [{ clusterSelector: { matchLabels: { [simulationLabel]: simulation } } }],
    },
  }));
}

/** Names of so many objects of one kind. */
export function numbered(simulation: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${simulation}-${index + 1}`);
}

/** A name that no earlier simulation has; `random`: from 0 up to 1. */
export function simulationName(random: number): string {
  const letters = Math.floor(random * 36 ** 5).toString(36);
  return `simulated-${letters.padStart(5, "0")}`;
}
