/** A fleet with an object for each page, and a release with a log, an event and a diff. */
import { bundles, helmOps, schedules } from "@flotilla/shared/api";
import { workspaceNamespace as namespace } from "@flotilla/shared/api/names";
import { bundleRollouts } from "@flotilla/shared/api/rollout";
import { helmReleases } from "@flotilla/shared/flux";
import { configMaps, events } from "@flotilla/shared/kube/objects";
import { formatMicroTime } from "@flotilla/shared/time";
import { afterAll } from "vitest";
import { chartArchive } from "../harness/chart-archive.ts";
import type { ClusterClient } from "../harness/cluster-client.ts";
import { currentCondition, waitForObject } from "../harness/wait.ts";
import { chartOf } from "../helmrelease/release-fleet.ts";
import { nodeName, startKubelet } from "../requests/kubelet.ts";
import {
  createRelease,
  createRepository,
  type DashboardFixtures,
  pods,
  setPodStatus,
  startDashboardFleet,
  versionedChart,
} from "./dashboard-fleet.ts";

/** What the tabs of the HelmRelease `checkout` on `lyon` show. */
export const shown = {
  log: "listening on port 8080",
  event: "the image was there already",
  diff: "changed by hand",
} as const;

/** HelmOps `shop`, `cart`, `search` and `ledger`, which waits for an approval, the Bundle `tools`, and the HelmRelease `checkout` of the HelmRepository `charts`. */
export async function startPagesFleet(): Promise<DashboardFixtures> {
  const dashboard = await startDashboardFleet({
    clusters: [{ env: "test" }, { env: "prod" }, { env: "prod" }],
    names: ["paris", "lyon", "nantes"],
  });
  const { fleet, charts } = dashboard;
  const { hub } = fleet;
  const lyon = fleet.clusters[1]?.client;
  if (lyon === undefined) throw new Error("the fleet has no second cluster");
  charts.publish(await versionedChart("shop", "1.4.2"), await checkoutChart());

  const helm = { repo: charts.url, chart: "shop", version: "~1.4" };
  for (const [name, spec] of [
    ["shop", { helm, pollingInterval: "5m", targets: [{ name: "all", clusterSelector: {} }] }],
    ["cart", { helm, targets: [{ clusterSelector: { matchLabels: { env: "prod" } } }] }],
    [
      "ledger",
      {
        helm,
        targets: [{ clusterSelector: {} }],
        rolloutStrategy: {
          stages: [
            { name: "canary", clusterSelector: { matchLabels: { env: "test" } } },
            { name: "prod", before: [{ name: "change-board", approval: {}, timeout: "72h" }] },
          ],
        },
      },
    ],
    ["search", { helm: { ...helm, version: "^9" }, targets: [{ clusterSelector: {} }] }],
  ] as const)
    await hub.create(helmOps, { metadata: { namespace, name }, spec });
  await hub.create(bundles, {
    metadata: { namespace, name: "tools" },
    spec: { helm, targets: [{ clusterName: "paris" }] },
  });
  await createRepository(hub, "charts", { url: charts.url });
  await createRelease(hub, "checkout", {
    ...chartOf("checkout", "2.x"),
    targets: [{ clusterName: "lyon" }],
  });
  await runPod(lyon, fleet.dir);

  await waitForObject(
    hub,
    helmOps,
    { namespace, name: "shop" },
    "ready",
    ({ status }) => status?.readyClusters === 3,
  );
  await waitForObject(
    hub,
    helmReleases,
    { namespace, name: "checkout" },
    "ready",
    (release) => currentCondition(release, "Ready")?.status === "True",
  );
  await waitForObject(
    hub,
    bundleRollouts,
    { namespace, name: "ledger-1" },
    "waiting at its gate",
    ({ status }) => status?.reason === "GateWaiting",
  );
  // Everything is installed there: nothing waits for it.
  await hub.create(schedules, {
    metadata: { namespace, name: "nights" },
    spec: {
      schedule: "0 0 22 ? * MON-FRI",
      duration: "4h",
      location: "Europe/Berlin",
      targets: { clusters: [{ clusterName: "paris" }] },
    },
  });
  const config = { namespace: "default", name: "checkout" };
  const body = { data: { greeting: shown.diff } };
  await lyon.patch(configMaps, config, { type: "merge", body });
  return dashboard;
}

function checkoutChart() {
  return chartArchive({
    ...{ name: "checkout", version: "2.0.1" },
    templates: {
      "all.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: checkout}
data: {greeting: hello}
---
apiVersion: v1
kind: Pod
metadata: {name: checkout}
spec:
  nodeName: ${nodeName}
  tolerations: [{operator: Exists}]
  containers: [{name: app, image: example.com/checkout}]
`,
    },
  });
}

/** As a kubelet does: the pod of the chart has run, and has a log and an event. */
async function runPod(client: ClusterClient, dir: string): Promise<void> {
  const ref = { namespace: "default", name: "checkout" };
  const kubelet = await startKubelet(client, dir);
  afterAll(() => kubelet.close());
  kubelet.logs.set("default/checkout/app", `${shown.log}\n`);
  const { metadata } = await waitForObject(client, pods, ref, "created", () => true);
  await client.create(events, {
    metadata: { namespace: ref.namespace, name: "checkout.pulled" },
    regarding: { apiVersion: "v1", kind: "Pod", ...ref, uid: metadata.uid ?? "" },
    ...{ type: "Normal", reason: "Pulled", action: "Pull", note: shown.event },
    ...{ reportingController: "kubelet", reportingInstance: nodeName },
    eventTime: formatMicroTime(Date.now()),
  });
  // It does not depend on the node, whose kubelet has no heartbeat.
  await setPodStatus(client, ref, { phase: "Succeeded" });
}
