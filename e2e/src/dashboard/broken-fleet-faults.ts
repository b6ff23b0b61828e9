/** The faults of the broken fleet that one test alone needs, and the chart whose pod crashes. */
import { apiVersion, helmOps, policies } from "@flotilla/shared/api";
import { workspaceNamespace as namespace } from "@flotilla/shared/api/names";
import { configMaps } from "@flotilla/shared/kube/objects";
import { type ChartArchive, chartArchive } from "../harness/chart-archive.ts";
import type { ChartServer } from "../harness/chart-server.ts";
import type { ClusterClient } from "../harness/cluster-client.ts";
import { waitForObject } from "../harness/wait.ts";
import { chartOf } from "../helmrelease/release-fleet.ts";
import { createRelease, createRepository, versionedChart } from "./dashboard-fleet.ts";

interface Planted {
  readonly hub: ClusterClient;
  readonly paris: ClusterClient;
  readonly charts: Pick<ChartServer, "url" | "publish">;
  /** It wants other credentials than those in the Secret `shop-login`. */
  readonly registryUrl: string;
}

/** A Deployment of two pods on this node. */
export function checkoutChart(nodeName: string): Promise<ChartArchive> {
  return chartArchive({
    name: "checkout",
    version: "2.0.0",
    templates: {
      "all.yaml": `apiVersion: apps/v1
kind: Deployment
metadata: {name: checkout}
spec:
  replicas: 2
  selector: {matchLabels: {app: checkout}}
  template:
    metadata: {labels: {app: checkout}}
    spec:
      schedulerName: nobody
      nodeName: ${nodeName}
      containers: [{name: app, image: example.com/checkout}]
`,
    },
  });
}

/** Faults of which nothing that runs is affected, and one of something that somebody has changed by hand. */
export async function plantMore({ hub, paris, charts, registryUrl }: Planted): Promise<void> {
  const failing = '{{ fail (repeat 300 "a line of a long error\\n") }}';
  charts.publish(
    await versionedChart("web", "1.0.0"),
    await chartArchive({ name: "long", version: "1.0.0", templates: { "all.yaml": failing } }),
  );
  await hub.create(policies, {
    ...{ apiVersion, kind: "Policy", metadata: { namespace, name: "no-miners" } },
    helmOp: { allowedChartPatterns: ["[^m].*"] },
  });
  const inParis = [{ clusterName: "paris" }];
  const web = { repo: charts.url, chart: "web", version: "1.0.0" };
  const operations = {
    web: { helm: web, targets: inParis },
    nowhere: { helm: web, targets: [{ clusterSelector: { matchLabels: { env: "prd" } } }] },
    search: { helm: { ...web, version: "^9" }, targets: inParis },
    long: { helm: { ...web, chart: "long" }, targets: inParis },
    denied: { helm: { ...web, chart: "miner" }, targets: inParis },
    // Its dependency has a misspelt name.
    waiting: { helm: web, targets: inParis, dependsOn: [{ name: "wbe" }] },
  };
  for (const [name, spec] of Object.entries(operations))
    await hub.create(helmOps, { metadata: { namespace, name }, spec });
  const secretRef = { name: "shop-login" };
  await createRepository(hub, "private", { url: registryUrl, secretRef });
  for (const name of ["cart", "stock"])
    await createRelease(hub, name, {
      ...chartOf(name, "1.x", "private"),
      targets: inParis,
    });
  const ref = { namespace, name: "web" };
  await waitForObject(hub, helmOps, ref, "ready", ({ status }) => status?.readyClusters === 1);
  const body = { data: { version: "changed by hand" } };
  const config = { namespace: "default", name: "web" };
  await paris.patch(configMaps, config, { type: "merge", body });
}
