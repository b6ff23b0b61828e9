/** What the statuses of Bundles and Clusters count, under Fleet's names; other apps are in `app-metrics.ts`. Pure. */
import { type Bundle, type BundleSummary, bundleStates, type Cluster } from "@flotilla/shared/api";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { worstState } from "../summary/summarize.ts";
import { type Count, type Listed, metricsOf, resourceCountNames } from "./count-metrics.ts";
import type { Labels, SeriesMetric } from "./series.ts";

export interface StatusSources {
  readonly bundles: () => readonly Bundle[];
  readonly clusters: () => readonly Cluster[];
}

export function statusMetrics(sources: StatusSources): readonly SeriesMetric[] {
  return [...bundleMetrics(sources.bundles), ...clusterMetrics(sources.clusters)];
}

function bundleMetrics(list: StatusSources["bundles"]): readonly SeriesMetric[] {
  const fields = {
    desired_ready: "desiredReady",
    err_applied: "errApplied",
    modified: "modified",
    not_ready: "notReady",
    offline: "offline",
    out_of_sync: "outOfSync",
    pending: "pending",
    ready: "ready",
    wait_applied: "waitApplied",
  } as const satisfies Record<string, keyof BundleSummary>;
  const counts = Object.entries(fields).map(
    ([name, field]): Count<Bundle> => [
      name,
      `deployments: ${field}`,
      (bundle) => bundle.status?.summary?.[field] ?? 0,
    ],
  );
  // Fleet's labels for Git are present and empty, so that its dashboards work.
  const labelsOf = (bundle: Bundle): Labels => ({
    ...namesOf(bundle),
    commit: "",
    repo: "",
    state: worstState(bundle.status?.summary ?? { ready: 0, desiredReady: 0 }) || "Ready",
  });
  return [
    ...metricsOf("fleet_bundle", { counts, list, labelsOf }),
    stateMetric("fleet_bundle", bundleStates, { list, labelsOf }),
  ];
}

function clusterMetrics(list: StatusSources["clusters"]): readonly SeriesMetric[] {
  const counts = Object.entries(resourceCountNames).map(
    ([name, [field, help]]): Count<Cluster> => [
      `resources_count_${name.replaceAll("_", "")}`,
      `objects ${help}`,
      (cluster) => cluster.status?.resourceCounts?.[field] ?? 0,
    ],
  );
  const labelsOf = (cluster: Cluster): Labels => ({
    ...namesOf(cluster),
    cluster_name: cluster.metadata.labels?.["management.cattle.io/cluster-name"] ?? "",
    cluster_display_name:
      cluster.metadata.labels?.["management.cattle.io/cluster-display-name"] ?? "",
    state: cluster.status?.display?.state || "Ready",
  });
  const states = ["NotReady", "Ready", "WaitCheckIn", "Offline"];
  return [
    ...metricsOf("fleet_cluster", { counts, list, labelsOf }),
    stateMetric("fleet_cluster", states, { list, labelsOf }),
  ];
}

/** 1 for the state that an object has, 0 for the others that there are. */
function stateMetric<T>(
  prefix: string,
  states: readonly string[],
  { list, labelsOf }: Listed<T>,
): SeriesMetric {
  return {
    name: `${prefix}_state`,
    help: "Whether it is in this state.",
    series: function* () {
      for (const object of list()) {
        const labels = labelsOf(object);
        for (const state of new Set([...states, labels["state"] ?? ""]))
          yield { labels: { ...labels, state }, value: state === labels["state"] ? 1 : 0 };
      }
    },
  };
}

function namesOf({ metadata: { name, namespace = "", generation = 0 } }: KubeObject): Labels {
  return { name, namespace, generation: String(generation) };
}
