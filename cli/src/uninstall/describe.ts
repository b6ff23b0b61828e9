/** What `flotilla uninstall` says. Pure. */

import { bundleDeployments, type Cluster, clusters } from "@flotilla/shared/api";
import { appDefinition, appKinds } from "@flotilla/shared/api/apps";
import { keyOf } from "@flotilla/shared/kube/objects";
import { listNames } from "@flotilla/shared/text";
import { clusterOfNamespace, type FleetObjects } from "./fleet-objects.ts";
import { clusterOf, managedElsewhere, type Waiting } from "./plan.ts";

/** What a fleet has, in one line; undefined when it has nothing. */
export function describeFleetObjects(fleet: FleetObjects): string | undefined {
  const counts = [
    ...appKinds.map((kind) => [kind, fleet.apps.get(kind) ?? []] as const),
    ["BundleDeployment", fleet.deployments],
    ["Cluster", fleet.clusters],
    ["cluster namespace", fleet.namespaces],
    ["ClusterRegistrationToken", fleet.tokens],
    ["ClusterGroup", fleet.groups],
    ["Policy", fleet.policies],
    ["Schedule", fleet.schedules],
    ["BundleNamespaceMapping", fleet.mappings],
    ["Receiver", fleet.receivers],
  ] as const;
  const parts = counts.flatMap(([kind, { length }]) =>
    length === 0 ? [] : [`${length} ${plural(kind, length)}`],
  );
  return parts.length === 0 ? undefined : parts.join(", ");
}

/** What has to be gone before it continues, in one line. */
export function describeWaiting({ kind, objects }: Waiting, fleet: FleetObjects): string {
  const what = `${objects.length} ${plural(kind, objects.length)}`;
  if (kind === bundleDeployments.kind) {
    const names = [...new Set(objects.map(clusterOf))];
    const shown = names.map((name) => {
      const cluster = fleet.clusters.find((each) => keyOf(each) === name);
      return `${name}${agentState(cluster)}`;
    });
    return `waiting for agents to uninstall ${what}: ${listNames(shown)}`;
  }
  const held = objects.filter(({ metadata }) => (metadata.finalizers ?? []).length > 0);
  const finalizers = [...new Set(held.flatMap(({ metadata }) => metadata.finalizers ?? []))];
  const by = finalizers.length === 0 ? "" : ` (finalizers ${listNames(finalizers)})`;
  return `waiting for ${what} to be removed: ${listNames(objects.map(keyOf))}${by}`;
}

/** What is left, and how to remove it. */
export function describeRest(
  fleet: FleetObjects,
  { keepReleases }: { readonly keepReleases: boolean },
): string {
  const others = managedElsewhere(fleet).map(keyOf);
  const left = new Set(others);
  const deployments = fleet.deployments.filter((each) => left.has(clusterOf(each)));
  const kept = fleet.namespaces.filter((each) => left.has(clusterOfNamespace(each) ?? ""));
  const leftToFlux = appKinds
    .filter((kind) => appDefinition(kind).yieldsToFlux)
    .map((kind) => plural(kind, 2));
  const lines = [
    keepReleases
      ? "The fleet is empty. All releases keep running without it."
      : "The fleet is empty, and its releases are uninstalled.",
    ...(others.length === 0
      ? []
      : [
          `Left as they are, because another system manages them: Clusters ${listNames(others)}, with ${deployments.length} BundleDeployments in ${kept.length} namespaces.`,
        ]),
    ...(fleet.fluxLease === undefined
      ? []
      : [
          `Left as they are, because the Lease ${fleet.fluxLease} of Flux's controllers exists: ${leftToFlux.join(", ")}, their sources and Receivers.`,
        ]),
    "What is left to remove, in any order:",
    "  in each cluster   helm uninstall flotilla-agent --namespace flotilla-agent && kubectl delete namespace flotilla-agent",
    "  on the hub        helm uninstall flotilla --namespace flotilla-system",
    `                    ${removeCrds(fleet)}`,
    "                    kubectl delete namespace flotilla-system",
    "Workspaces (fleet-default, fleet-local and yours) stay, with the Secrets that you created in them.",
  ];
  return `${lines.join("\n")}\n`;
}

/** Flux's controllers use the definitions of their kinds, also those that others installed. */
function removeCrds({ fluxLease }: FleetObjects): string {
  const charts = ["flotilla-crds", ...(fluxLease === undefined ? ["flotilla-flux-crds"] : [])];
  return `helm uninstall ${charts.join(" ")} --namespace flotilla-system --ignore-not-found && flotilla crds | kubectl delete -f -`;
}

function agentState(cluster: Cluster | undefined): string {
  const agent = cluster?.status?.agent;
  if (cluster === undefined || agent?.connected === true) return "";
  return agent?.lastSeen === undefined
    ? " (no agent has connected)"
    : ` (agent not connected since ${agent.lastSeen})`;
}

/** What to do where a wait does not end. */
export function describeRemedy({ kind }: Waiting, keepReleases: boolean): string {
  if (kind === bundleDeployments.kind)
    return "start the agents of these clusters, or delete the Clusters, whose releases then keep running; --keep-releases lets everything go at once; run the command again to continue";
  if (keepReleases)
    return "finalizers of others are removed by those who set them; run the command again to continue";
  const hub = "check that the hub runs; --keep-releases works without it";
  return kind === clusters.kind
    ? `${hub}; run the command again to continue`
    : `${hub}, and leaves the releases; run the command again to continue`;
}

function plural(kind: string, count: number): string {
  if (count === 1) return kind;
  return kind.endsWith("y") ? `${kind.slice(0, -1)}ies` : `${kind}s`;
}
