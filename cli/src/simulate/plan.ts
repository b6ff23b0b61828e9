/** Names and objects of a simulation. Pure. */
import type { Bootstrap } from "@flotilla/agent/state";
import {
  apiVersion,
  type Cluster,
  type ClusterRegistrationToken,
  clusterRegistrationTokens,
  type HelmOp,
  helmOps,
} from "@flotilla/shared/api";
import { simulatedLabel } from "@flotilla/shared/api/names";

/** One run of `flotilla simulate`. */
export interface SimulationRun {
  /** Name of the simulation; its objects are named after it. */
  readonly name: string;
  /** Unique to this run. */
  readonly id: string;
}

/**
 * Label of every simulated Cluster, for targets; the value is the name of the simulation. An agent may set it, because it has none
 * of the reserved prefixes; users may set it, too, so it does not prove that a simulation created an object.
 */
export const simulationLabel = "simulation";

/** A chart that does not exist: the hub does not fetch a chart given by the URL of its archive, and simulated agents fetch none. */
const simulatedChart = "https://charts.example.com/simulated-1.0.0.tgz";

/** The bootstrap configuration of each agent; `registration` has the fields that all have in common. */
export function newBootstraps(
  run: SimulationRun,
  agents: number,
  registration: Bootstrap,
): readonly Bootstrap[] {
  const labels = { [simulationLabel]: run.name };
  return numberedNames(run.name, agents).map((clusterName, index) => ({
    ...registration,
    clusterName,
    clientId: `${clientIdPrefix(run.name, run.id)}${index + 1}`,
    labels,
  }));
}

/**
 * The prefix of the client ids of one run's agents; without `runId`, the prefix of all runs with this name. It identifies the Clusters
 * of a simulation, because an agent cannot set labels of the product on its Cluster.
 */
export function clientIdPrefix(simulation: string, runId?: string): string {
  return runId === undefined ? `simulation/${simulation}/` : `simulation/${simulation}/${runId}/`;
}

/** The Clusters whose agents registered with a client id that has this prefix. */
export function clustersWithPrefix(
  prefix: string,
  clusters: readonly Cluster[],
): readonly Cluster[] {
  return clusters.filter(({ spec }) => spec.clientID?.startsWith(prefix) === true);
}

/** The registration token of a simulation. */
export function newToken(simulation: string, namespace: string): ClusterRegistrationToken {
  return {
    apiVersion,
    kind: clusterRegistrationTokens.kind,
    metadata: { namespace, name: simulation, labels: { [simulatedLabel]: simulation } },
    spec: {},
  };
}

/** HelmOps that target only the clusters of the simulation. */
export function newHelmOps(
  simulation: string,
  count: number,
  namespace: string,
): readonly HelmOp[] {
  return numberedNames(simulation, count).map((name) => ({
    apiVersion,
    kind: helmOps.kind,
    metadata: {
      namespace,
      name,
      labels: { [simulationLabel]: simulation, [simulatedLabel]: simulation },
    },
    spec: {
      helm: { chart: simulatedChart },
      namespace: name,
      targets: [{ clusterSelector: { matchLabels: { [simulationLabel]: simulation } } }],
    },
  }));
}

/** NAME-1 to NAME-count. */
export function numberedNames(simulation: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${simulation}-${index + 1}`);
}

/** A generated name; `random`: from 0, less than 1. */
export function simulationName(random: number): string {
  const letters = Math.floor(random * 36 ** 5).toString(36);
  return `simulated-${letters.padStart(5, "0")}`;
}
