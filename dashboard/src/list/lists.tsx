/** The lists of apps, clusters and sources. */
import type { App, FleetCluster, FleetSource } from "@flotilla/shared/dashboard";
import { useMemo } from "react";
import { Link } from "wouter";
import { pageOf, useParameter } from "../address/index.ts";
import { StateBadge } from "../badge/index.ts";
import { usePageTitle } from "../detail/index.ts";
import { SearchField, SelectField } from "../field/index.ts";
import {
  appsInCluster,
  chartsOf,
  clusterKey,
  clustersWithChart,
  labelTexts,
  objectKey,
  useFleet,
  useShownStates,
} from "../fleet/index.ts";
import { type AnyState, urgencyOf } from "../state/index.ts";
import { Ago } from "../time/index.ts";
import type { Listed } from "./filter.ts";
import { ListPage } from "./list-page.tsx";
import type { Column } from "./virtual-table.tsx";

type Row<T> = Omit<T, "state"> & Listed;
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
/** `more`: what a phone shows beside since when it is so, because other columns have no room there. */
function why<T extends Stated>(more: (row: T) => readonly string[]): Column<T> {
  const reasonOf = ({ state, message = "" }: Stated) => (state === "Ready" ? "" : message);
  return {
    name: "Why",
    width: 12,
    grow: 2,
    narrow: "below",
    cell: (row) => <span title={reasonOf(row)}>{reasonOf(row)}</span>,
    narrowCell: (row) => (
      <>
        <span className="soft">
          {more(row)
            .filter((text) => text !== "")
            .join(", ")}
          {row.since !== undefined && (
            <>
              , since <Ago at={row.since} style="age" />
            </>
          )}
        </span>
        {reasonOf(row) !== "" && <>: {reasonOf(row)}</>}
      </>
    ),
  };
}
const state: Column<Stated> = {
  name: "State",
  width: 11,
  narrow: "line",
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
  narrow: "line",
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
  why((app) => [`${app.ready}/${app.desired} ready`, app.version ?? ""]),
];

export function AppList() {
  usePageTitle("Apps");
  const fleet = useFleet();
  const { apps } = fleet;
  const states = useShownStates();
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
          message: reasonText(app),
          state: states.ofApp(app),
          texts: [app.kind, app.chart, app.version ?? "", app.message ?? "", suspendedText(app)],
        })),
    [apps, states, chart, inCluster],
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
    narrow: "line",
    cell: (cluster) => <Link href={`/clusters/${clusterKey(cluster)}`}>{cluster.name}</Link>,
    sortBy: ({ name }) => name,
  },
  state,
  ready,
  { name: "Agent", width: 4.5, ...textual(({ agentVersion = "" }) => agentVersion) },
  since,
  why((cluster) => [`${cluster.ready}/${cluster.desired} ready`]),
  {
    name: "Labels",
    width: 9,
    grow: 1,
    ...textual(({ labels }) => labelTexts(labels).join(", ")),
  },
];

export function ClusterList() {
  usePageTitle("Clusters");
  const fleet = useFleet();
  const { clusters } = fleet;
  const states = useShownStates();
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
          state: states.ofCluster(cluster),
          texts: [cluster.agentVersion ?? "", ...labelTexts(cluster.labels), cluster.message ?? ""],
        })),
    [clusters, states, withChart],
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
  why(({ url }) => [url]),
];

export function SourceList() {
  usePageTitle("Sources");
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

/** For an app whose state is a state of releases, the first cluster in it, without the counts that are for `kubectl get`. */
function reasonText({ examples = [], message = "" }: App): string {
  const [first] = examples;
  if (first === undefined) return message;
  const name = first.cluster.slice(first.cluster.indexOf("/") + 1);
  return first.message === undefined ? name : `${name}: ${first.message}`;
}

/** So that what is suspended is found by this word. */
function suspendedText({ suspended }: { readonly suspended: boolean }): string {
  return suspended ? "suspended" : "";
}
