/** The lists of apps, clusters and sources. */
import type { App, FleetCluster, FleetSource } from "@flotilla/shared/dashboard";
import { useMemo } from "react";
import { Link } from "wouter";
import { pageOf, useParameter } from "../address/index.ts";
import { StateBadge } from "../badge/index.ts";
import { SearchField, SelectField } from "../field/index.ts";
import {
  appsInCluster,
  chartsOf,
  clusterKey,
  clustersWithChart,
  labelTexts,
  objectKey,
  useFleet,
} from "../fleet/index.ts";
import { type AnyState, urgencyOf } from "../state/index.ts";
import { Ago } from "../time/index.ts";
import type { Listed } from "./filter.ts";
import { ListPage } from "./list-page.tsx";
import type { Column } from "./virtual-table.tsx";

type Row<T> = T & Listed;
type Cells<T> = Omit<Column<T>, "name">;

interface Stated {
  readonly state: AnyState;
  readonly suspended?: boolean;
  readonly since?: string | undefined;
  readonly message?: string | undefined;
}

/** An age that grows from top to bottom: the youngest first. */
const since: Column<Stated> = {
  name: "Since",
  width: 3.5,
  cell: ({ since: at }) => (at === undefined ? "" : <Ago at={at} style="age" />),
  sortBy: ({ since: at }) => (at === undefined ? undefined : -Date.parse(at)),
};
const why: Column<Stated> = {
  name: "Why",
  width: 12,
  grow: 2,
  cell: ({ state, message = "" }) =>
    state === "Ready" ? "" : <span title={message}>{message}</span>,
};
const state: Column<Stated> = {
  name: "State",
  width: 11,
  cell: ({ state: each, suspended = false }) => <StateBadge state={each} suspended={suspended} />,
  sortBy: ({ state: each }) => urgencyOf(each),
};
const ready: Column<{ readonly ready: number; readonly desired: number }> = {
  name: "Ready",
  width: 4.5,
  cell: (row) => `${row.ready}/${row.desired}`,
  sortBy: (row) => (row.desired === 0 ? undefined : row.ready / row.desired),
};

/** Shown whole on hover. */
function textual<T>(textOf: (row: T) => string): Omit<Cells<T>, "width"> {
  return {
    cell: (row) => <span title={textOf(row)}>{textOf(row)}</span>,
    sortBy: (row) => textOf(row) || undefined,
  };
}

const objectName: Column<Parameters<typeof pageOf>[0]> = {
  name: "Name",
  width: 11,
  grow: 1,
  cell: (row) => (
    <Link href={pageOf(row)}>
      <span className="soft">{row.kind}</span> {row.name}
    </Link>
  ),
  sortBy: ({ name }) => name,
};

const appColumns: readonly Column<Row<App>>[] = [
  objectName,
  state,
  ready,
  { name: "Version", width: 5.5, ...textual(({ version = "" }) => version) },
  { name: "Chart", width: 7, grow: 1, ...textual(({ chart }) => chart) },
  since,
  why,
];

export function AppList() {
  const fleet = useFleet();
  const { apps } = fleet;
  const [chart, setChart] = useParameter("chart", "");
  const [cluster, setCluster] = useParameter("cluster", "");
  const inCluster = useMemo(
    () => (cluster === "" ? undefined : appsInCluster(fleet, cluster)),
    [fleet, cluster],
  );
  const rows = useMemo(
    () =>
      [...apps.values()]
        .filter((app) => chart === "" || app.chart === chart)
        .filter((app) => inCluster?.has(objectKey(app)) ?? true)
        .map((app) => ({
          ...app,
          texts: [app.kind, app.chart, app.version ?? "", app.message ?? "", suspendedText(app)],
        })),
    [apps, chart, inCluster],
  );
  return (
    <ListPage
      title="Apps"
      rows={rows}
      total={apps.size}
      columns={appColumns}
      keyOf={objectKey}
      controls={
        <>
          <ChartField chart={chart} choose={setChart} />
          <SearchField
            name="Cluster"
            placeholder="Deployed to cluster"
            value={cluster}
            onChange={setCluster}
          />
        </>
      }
    />
  );
}

interface ChartFieldProps {
  readonly chart: string;
  readonly choose: (chart: string) => void;
}

function ChartField({ chart, choose }: ChartFieldProps) {
  const charts = chartsOf(useFleet());
  return (
    <SelectField name="Chart" all="every chart" values={charts} value={chart} onChange={choose} />
  );
}

const clusterColumns: readonly Column<Row<FleetCluster>>[] = [
  {
    name: "Name",
    width: 9,
    grow: 1,
    cell: (cluster) => <Link href={`/clusters/${clusterKey(cluster)}`}>{cluster.name}</Link>,
    sortBy: ({ name }) => name,
  },
  state,
  ready,
  { name: "Agent", width: 4.5, ...textual(({ agentVersion = "" }) => agentVersion) },
  since,
  why,
  {
    name: "Labels",
    width: 9,
    grow: 1,
    ...textual(({ labels }) => labelTexts(labels).join(", ")),
  },
];

export function ClusterList() {
  const fleet = useFleet();
  const { clusters } = fleet;
  const [chart, setChart] = useParameter("chart", "");
  const withChart = useMemo(
    () => (chart === "" ? undefined : clustersWithChart(fleet, chart)),
    [fleet, chart],
  );
  const rows = useMemo(
    () =>
      [...clusters.values()]
        .filter((cluster) => withChart?.has(clusterKey(cluster)) ?? true)
        .map((cluster) => ({
          ...cluster,
          texts: [cluster.agentVersion ?? "", ...labelTexts(cluster.labels), cluster.message ?? ""],
        })),
    [clusters, withChart],
  );
  return (
    <ListPage
      title="Clusters"
      rows={rows}
      total={clusters.size}
      columns={clusterColumns}
      keyOf={clusterKey}
      controls={<ChartField chart={chart} choose={setChart} />}
    />
  );
}

const sourceColumns: readonly Column<Row<FleetSource>>[] = [
  objectName,
  state,
  { name: "Revision", width: 7, grow: 1, ...textual(({ revision = "" }) => revision) },
  { name: "Address", width: 8, grow: 1, ...textual(({ url }) => url) },
  since,
  why,
];

export function SourceList() {
  const { sources } = useFleet();
  const rows = useMemo(
    () =>
      [...sources.values()].map((source) => ({
        ...source,
        texts: [
          ...[source.kind, source.url, source.revision ?? "", source.message ?? ""],
          suspendedText(source),
        ],
      })),
    [sources],
  );
  return <ListPage title="Sources" rows={rows} columns={sourceColumns} keyOf={objectKey} />;
}

/** So that what is suspended is found by this word. */
function suspendedText({ suspended }: { readonly suspended: boolean }): string {
  return suspended ? "suspended" : "";
}
