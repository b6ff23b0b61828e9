/** Clusters without agents on an API server in memory, one Bundle for all of them, and reports as agents would make them. */
import {
  apiVersion,
  type Bundle,
  type BundleDeployment,
  bundleDeployments,
  bundles,
  type Cluster,
  clusters,
  type RolloutStrategy,
} from "@flotilla/shared/api";
import { clusterNamespaceName, workspaceNamespace as namespace } from "@flotilla/shared/api/names";
import type { MemoryApiServer } from "@flotilla/shared/kube/testing";

export const bundleName = "web";

export interface FleetSize {
  readonly clusters: number;
  /** Each selects its share of the clusters, and has values of its own. */
  readonly targets: number;
  readonly stages: number;
}

/** Names in alphabetical order. */
export function clusterName(index: number): string {
  return `cluster-${String(index).padStart(5, "0")}`;
}

export function putClusters(rest: MemoryApiServer, size: FleetSize): void {
  for (let index = 0; index < size.clusters; index += 1) rest.put(clusters, cluster(index, size));
}

function cluster(index: number, { targets, stages, clusters: count }: FleetSize): Cluster {
  const name = clusterName(index);
  return {
    apiVersion,
    kind: "Cluster",
    metadata: {
      name,
      namespace,
      uid: `uid-${name}`,
      generation: 1,
      labels: {
        team: `team-${index % targets}`,
        ring: `ring-${Math.floor((index * stages) / count)}`,
        env: "prod",
        region: `region-${index % 7}`,
      },
    },
    spec: { clientID: `client-${name}` },
    status: {
      namespace: clusterNamespaceName(namespace, name),
      agent: { connected: true, epoch: 1, lastSeen: "2026-11-01T00:00:00Z" },
    },
  };
}

/** A stage for each ring. */
export function ringStrategy(
  { stages }: FleetSize,
  maxUnavailable: number | string,
): RolloutStrategy {
  return {
    stages: Array.from({ length: stages }, (_, index) => ({
      name: `ring-${index}`,
      clusterSelector: { matchLabels: { ring: `ring-${index}` } },
      maxUnavailable,
    })),
  };
}

/** `revision`: in the values of each target. `isRestricted`: to all clusters. */
export function putBundle(
  rest: MemoryApiServer,
  { targets }: FleetSize,
  {
    revision,
    strategy,
    isRestricted = false,
  }: {
    readonly revision: number;
    readonly strategy?: RolloutStrategy;
    readonly isRestricted?: boolean;
  },
): void {
  const before = rest.peek(bundles, { namespace, name: bundleName });
  const bundle: Bundle = {
    apiVersion,
    kind: "Bundle",
    ...before,
    metadata: {
      ...before?.metadata,
      name: bundleName,
      namespace,
      uid: "uid-bundle",
      generation: (before?.metadata.generation ?? 0) + 1,
    },
    spec: {
      helm: { repo: "https://charts.example.com", chart: "web", version: "1.0.0" },
      targets: Array.from({ length: targets }, (_, index) => ({
        name: `team-${index}`,
        clusterSelector: { matchLabels: { team: `team-${index}` } },
        helm: { values: { team: index, revision } },
      })),
      ...(strategy !== undefined && { rolloutStrategy: strategy }),
      ...(isRestricted && { targetRestrictions: [{ clusterSelector: {} }] }),
    },
  };
  rest.put(bundles, bundle);
}

/** The agent of a cluster has tried what was promoted, for the last time, and says at length why that failed. */
export function reportFailed(rest: MemoryApiServer, deployment: BundleDeployment): void {
  const at = new Date().toISOString();
  const about = { observedGeneration: deployment.metadata.generation ?? 0, lastTransitionTime: at };
  const message = `helm upgrade --install ${"failed and failed again ".repeat(40)}`;
  rest.put(bundleDeployments, {
    ...deployment,
    status: {
      ...deployment.status,
      attemptedDeploymentID: deployment.spec.deploymentID,
      ready: false,
      conditions: [
        { type: "Deployed", status: "False", reason: "HelmFailed", message, ...about },
        { type: "Ready", status: "False", reason: "HelmFailed", message, ...about },
        { type: "Stalled", status: "True", reason: "RetriesExceeded", message, ...about },
      ],
    },
  });
}

/** The agent of a cluster has applied what was promoted, and it is ready. */
export function reportReady(rest: MemoryApiServer, deployment: BundleDeployment): void {
  const at = new Date().toISOString();
  const { deploymentID } = deployment.spec;
  const about = { observedGeneration: deployment.metadata.generation ?? 0, lastTransitionTime: at };
  const isTrue = { status: "True", reason: "Ready", message: "", ...about } as const;
  rest.put(bundleDeployments, {
    ...deployment,
    status: {
      appliedDeploymentID: deploymentID,
      ready: true,
      conditions: [
        { type: "Deployed", ...isTrue },
        { type: "Ready", ...isTrue },
      ],
    },
  });
}
