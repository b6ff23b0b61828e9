/** What the statuses of HelmOps, Bundles and Clusters count, under Fleet's names. Pure. */
import {
  type Bundle,
  type BundleSummary,
  bundleStates,
  type Cluster,
  type HelmOp,
  type ResourceCounts,
} from "@flotilla/shared/api";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { describeUrl } from "@flotilla/shared/source";
import { worstState } from "../summary/summarize.ts";
import type { Labels, SeriesMetric } from "./series.ts";

export interface StatusSources {
  readonly helmOps: () => readonly HelmOp[];
  readonly bundles: () => readonly Bundle[];
  readonly clusters: () => readonly Cluster[];
}

export function statusMetrics(sources: StatusSources): readonly SeriesMetric[] {
  return [
    ...helmOpMetrics(sources.helmOps),
    ...bundleMetrics(sources.bundles),
    ...clusterMetrics(sources.clusters),
  ];
}

/** The end of a metric's name in Fleet, its help, and what it is the count of. */
type Count<T> = readonly [name: string, help: string, count: (object: T) => number];

const resourceNames = {
  desired_ready: ["desiredReady", "that should be ready"],
  missing: ["missing", "that are missing"],
  modified: ["modified", "that were modified"],
  not_ready: ["notReady", "that are not ready"],
  orphaned: ["orphaned", "that should not be there"],
  ready: ["ready", "that are ready"],
  unknown: ["unknown", "whose state is unknown"],
  wait_applied: ["waitApplied", "that have not been applied yet"],
} as const satisfies Record<string, readonly [keyof ResourceCounts, string]>;

function helmOpMetrics(list: StatusSources["helmOps"]): readonly SeriesMetric[] {
  const counts: readonly Count<HelmOp>[] = [
    [
      "desired_ready_clusters",
      "clusters that should be ready",
      (op) => op.status?.desiredReadyClusters ?? 0,
    ],
    ["ready_clusters", "clusters that are ready", (op) => op.status?.readyClusters ?? 0],
    ...Object.entries(resourceNames).map(
      ([name, [field, help]]): Count<HelmOp> => [
        `resources_${name}`,
        `objects ${help}`,
        (op) => op.status?.resourceCounts?.[field] ?? 0,
      ],
    ),
  ];
  return metricsOf("fleet_helmop", {
    counts,
    list,
    labelsOf: ({ metadata: { name, namespace = "" }, spec: { helm }, status }) => ({
      name,
      namespace,
      repo: shownAddress(helm?.repo ?? ""),
      chart: shownAddress(helm?.chart ?? ""),
      version: status?.version ?? "",
    }),
  });
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
  const counts = Object.entries(resourceNames).map(
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

interface Listed<T> {
  readonly list: () => readonly T[];
  readonly labelsOf: (object: T) => Labels;
}

function metricsOf<T>(
  prefix: string,
  { counts, list, labelsOf }: Listed<T> & { readonly counts: readonly Count<T>[] },
): readonly SeriesMetric[] {
  return counts.map(([name, help, count]) => ({
    name: `${prefix}_${name}`,
    help: `How many ${help}.`,
    series: function* () {
      for (const object of list()) yield { labels: labelsOf(object), value: count(object) };
    },
  }));
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

/** Unchanged except for possible secrets. */
function shownAddress(text: string): string {
  const url = URL.parse(text.trim());
  if (url === null) return text.includes("@") ? "" : text;
  const { username, password, search } = url;
  return username === "" && password === "" && search === "" ? text : describeUrl(url);
}
