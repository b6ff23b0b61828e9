/** Faults of the broken fleet. */
import { apiVersion, clusters, helmOps, policies } from "@flotilla/shared/api";
import { workspaceNamespace as namespace } from "@flotilla/shared/api/names";
import { configMaps, deployments } from "@flotilla/shared/kube/objects";
import { formatTime } from "@flotilla/shared/time";
import { type ChartArchive, chartArchive } from "../harness/chart-archive.ts";
import type { ChartServer } from "../harness/chart-server.ts";
import type { ClusterClient } from "../harness/cluster-client.ts";
import { waitForObject } from "../harness/wait.ts";
import { chartOf } from "../helmrelease/release-fleet.ts";
import { nodeName } from "../requests/kubelet.ts";
import { createRelease, createRepository, pods, setPodStatus } from "./dashboard-fleet.ts";

interface Planted {
  readonly hub: ClusterClient;
  readonly paris: ClusterClient;
  readonly charts: Pick<ChartServer, "url" | "publish">;
  /** It wants other credentials than those in the Secret `shop-login`. */
  readonly registryUrl: string;
}

/** The longest name that a HelmOp may have, which no line can break at a hyphen. */
export const longName = "storefront".repeat(7).slice(0, 63);
/** How many clusters `plantMore` has go offline at once. */
export const outage = 100;

/** The label that makes a cluster a target of the HelmOp that `plantSuspended` creates. */
const ofSuspended = { zone: "new" };

/** A Deployment of two pods on this node. */
function checkoutChart(): Promise<ChartArchive> {
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

/** A HelmOp whose chart has two pods, of which one crashes. Returns the names of both. */
export async function plantCrash({ hub, paris, charts }: Omit<Planted, "registryUrl">) {
  charts.publish(await checkoutChart());
  await hub.create(helmOps, {
    metadata: { namespace, name: "checkout" },
    spec: {
      helm: { repo: charts.url, chart: "checkout", version: "2.0.0" },
      targets: [{ clusterName: "paris" }],
    },
  });
  const ofChart = { namespace: "default", name: "checkout" };
  await waitForObject(paris, deployments, ofChart, "with its pods", (found) => {
    const { status } = found as { readonly status?: { readonly replicas?: number } };
    return status?.replicas === 2;
  });
  const [crashing = "", other = ""] = (
    await paris.reader.list(pods, { namespace: "default", labelSelector: "app=checkout" })
  ).map(({ metadata }) => metadata.name);
  const terminated = { exitCode: 2, reason: "Error" };
  const container = { name: "app", image: "example.com/checkout", imageID: "", ready: false };
  await setPodStatus(
    paris,
    { namespace: "default", name: crashing },
    {
      phase: "Running",
      containerStatuses: [
        {
          ...{ ...container, restartCount: 7, lastState: { terminated } },
          state: { waiting: { reason: "CrashLoopBackOff", message: "back-off 5m0s restarting" } },
        },
      ],
    },
  );
  return { crashing, other };
}

/** A suspended HelmOp that runs in `lyon`: `plantMore` makes `paris` one of its targets. */
export async function plantSuspended({ hub, charts }: Pick<Planted, "hub" | "charts">) {
  const ref = { namespace, name: "frozen" };
  await hub.create(helmOps, {
    metadata: ref,
    spec: {
      helm: { repo: charts.url, chart: "web", version: "1.0.0" },
      targets: [{ clusterName: "lyon" }, { clusterSelector: { matchLabels: ofSuspended } }],
    },
  });
  await waitForObject(hub, helmOps, ref, "ready", ({ status }) => status?.readyClusters === 1);
  await hub.patch(helmOps, ref, { type: "merge", body: { spec: { suspend: true } } });
}

/** Clusters as their last replica of the hub has recorded them: their agents were connected until an hour ago. */
async function plantOutage(hub: ClusterClient): Promise<void> {
  const lastSeen = formatTime(Date.now() - 3_600_000);
  const agent = { connected: false, lastSeen, epoch: 1, replica: "flotilla-hub-before" };
  const body = { status: { agent } };
  async function plant(name: string): Promise<void> {
    const ref = { namespace, name };
    await hub.create(clusters, { metadata: ref, spec: {} });
    await hub.patch(clusters, ref, { type: "merge", body }, { subresource: "status" });
  }
  await Promise.all(Array.from({ length: outage }, (_, index) => plant(`store-${index}`)));
}

/** Faults of which nothing that runs is affected, one of something that somebody has changed by hand, and an outage. */
export async function plantMore({ hub, paris, charts, registryUrl }: Planted): Promise<void> {
  const failing = '{{ fail (repeat 300 "a line of a long error\\n") }}';
  charts.publish(
    await chartArchive({ name: "long", version: "1.0.0", templates: { "all.yaml": failing } }),
  );
  await hub.create(policies, {
    ...{ apiVersion, kind: "Policy", metadata: { namespace, name: "no-miners" } },
    helmOp: { allowedChartPatterns: ["[^m].*"] },
  });
  await plantOutage(hub);
  const inParis = [{ clusterName: "paris" }];
  const noValues = { namespace: "default", name: "no-values", key: "values.yaml" };
  const web = { repo: charts.url, chart: "web", version: "1.0.0" };
  const operations = {
    web: { helm: web, targets: inParis },
    nowhere: { helm: web, targets: [{ clusterSelector: { matchLabels: { env: "prd" } } }] },
    search: { helm: { ...web, version: "^9" }, targets: inParis },
    long: { helm: { ...web, chart: "long" }, targets: inParis },
    denied: { helm: { ...web, chart: "miner" }, targets: inParis },
    // Its dependency has a misspelt name.
    waiting: { helm: web, targets: inParis, dependsOn: [{ name: "wbe" }] },
    // No Bundle has such a label.
    orphan: {
      ...{ helm: web, targets: inParis },
      dependsOn: [{ selector: { matchLabels: { tier: "base" } } }],
    },
    locked: { helm: web, targets: inParis, helmSecretName: "no-login" },
    unset: { helm: { ...web, valuesFrom: [{ secretKeyRef: noValues }] }, targets: inParis },
    [longName]: { helm: { ...web, chart: "lost" }, targets: inParis },
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
  await createRepository(hub, "public", { url: charts.url });
  await createRelease(hub, "future", { ...chartOf("web", "^9", "public"), targets: inParis });
  // Its dependency is in another namespace.
  await createRelease(hub, "lonely", {
    ...{ ...chartOf("web", "1.0.0", "public"), targets: inParis },
    dependsOn: [{ name: "base", namespace: "platform" }],
  });
  const labels = { metadata: { labels: ofSuspended } };
  await hub.patch(clusters, { namespace, name: "paris" }, { type: "merge", body: labels });
  const ref = { namespace, name: "web" };
  await waitForObject(hub, helmOps, ref, "ready", ({ status }) => status?.readyClusters === 1);
  const body = { data: { version: "changed by hand" } };
  const config = { namespace: "default", name: "web" };
  await paris.patch(configMaps, config, { type: "merge", body });
}
