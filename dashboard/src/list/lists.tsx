/** The lists of apps, clusters and sources. */
import type { App, FleetCluster, FleetSource } from "@flotilla/shared/dashboard";
import { useMemo } from "react";
import { Link } from "wouter";
import { pageOf } from "../address/index.ts";
import { StateBadge } from "../badge/index.ts";
import { clusterKey, objectKey, useFleet } from "../fleet/index.ts";
import { Ago } from "../time/index.ts";
import type { Listed } from "./filter.ts";
import { ListPage } from "./list-page.tsx";
import type { Column } from "./virtual-table.tsx";

type Row<T> = T & Listed;

const since = {
  name: "Since",
  width: "4rem",
  cell: ({ since: at }: { readonly since?: string | undefined }) =>
    at === undefined ? "" : <Ago at={at} style="age" />,
};
const why = {
  name: "Why",
  width: "minmax(14rem, 1fr)",
  cell: ({
    state,
    message = "",
  }: {
    readonly state: string;
    readonly message?: string | undefined;
  }) => (state === "Ready" ? "" : <span title={message}>{message}</span>),
};
const namespace = {
  name: "Namespace",
  width: "9rem",
  cell: (row: { readonly namespace: string }) => row.namespace,
};

const appColumns: readonly Column<Row<App>>[] = [
  {
    name: "Name",
    width: "16rem",
    cell: (app) => (
      <Link href={pageOf(app)}>
        <span className="soft">{app.kind}</span> {app.name}
      </Link>
    ),
  },
  namespace,
  {
    name: "State",
    width: "13rem",
    cell: ({ state, suspended }) => <StateBadge state={state} suspended={suspended} />,
  },
  { name: "Ready", width: "5rem", cell: ({ ready, desired }) => `${ready}/${desired}` },
  { name: "Version", width: "8rem", cell: ({ version }) => version ?? "" },
  { name: "Chart", width: "12rem", cell: ({ chart }) => <span title={chart}>{chart}</span> },
  since,
  why,
];

export function AppList() {
  const { apps } = useFleet();
  const rows = useMemo(
    () =>
      [...apps.values()].map((app) => ({
        ...app,
        texts: [app.kind, app.chart, app.version ?? "", app.message ?? ""],
      })),
    [apps],
  );
  return <ListPage title="Apps" rows={rows} columns={appColumns} keyOf={objectKey} />;
}

const clusterColumns: readonly Column<Row<FleetCluster>>[] = [
  {
    name: "Name",
    width: "14rem",
    cell: (cluster) => <Link href={`/clusters/${clusterKey(cluster)}`}>{cluster.name}</Link>,
  },
  namespace,
  { name: "State", width: "13rem", cell: ({ state }) => <StateBadge state={state} /> },
  { name: "Ready", width: "5rem", cell: ({ ready, desired }) => `${ready}/${desired}` },
  { name: "Agent", width: "6rem", cell: ({ agentVersion }) => agentVersion ?? "" },
  since,
  {
    name: "Labels",
    width: "minmax(10rem, 1fr)",
    cell: ({ labels }) => {
      const text = labelText(labels);
      return <span title={text}>{text}</span>;
    },
  },
  why,
];

export function ClusterList() {
  const { clusters } = useFleet();
  const rows = useMemo(
    () =>
      [...clusters.values()].map((cluster) => ({
        ...cluster,
        texts: [cluster.agentVersion ?? "", labelText(cluster.labels), cluster.message ?? ""],
      })),
    [clusters],
  );
  return (
    <ListPage title="Clusters" rows={rows} columns={clusterColumns} keyOf={clusterKey} hasLabels />
  );
}

const sourceColumns: readonly Column<Row<FleetSource>>[] = [
  {
    name: "Name",
    width: "18rem",
    cell: (source) => (
      <Link href={pageOf(source)}>
        <span className="soft">{source.kind}</span> {source.name}
      </Link>
    ),
  },
  namespace,
  {
    name: "State",
    width: "13rem",
    cell: ({ state, suspended }) => <StateBadge state={state} suspended={suspended} />,
  },
  {
    name: "Revision",
    width: "12rem",
    cell: ({ revision }) => <span title={revision}>{revision}</span>,
  },
  { name: "Address", width: "14rem", cell: ({ url }) => <span title={url}>{url}</span> },
  since,
  why,
];

export function SourceList() {
  const { sources } = useFleet();
  const rows = useMemo(
    () =>
      [...sources.values()].map((source) => ({
        ...source,
        texts: [source.kind, source.url, source.revision ?? "", source.message ?? ""],
      })),
    [sources],
  );
  return <ListPage title="Sources" rows={rows} columns={sourceColumns} keyOf={objectKey} />;
}

function labelText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([label, value]) => `${label}=${value}`)
    .join(", ");
}
