/** Three faults at once: each is found from the overview, with its reason and what to do, in a few clicks and without kubectl. */
import assert from "node:assert/strict";
import { clusters, helmOps } from "@flotilla/shared/api";
import { workspaceNamespace as namespace } from "@flotilla/shared/api/names";
import { deployments, secrets } from "@flotilla/shared/kube/objects";
import { afterAll, test } from "vitest";
import { startAuthenticatedCharts } from "../harness/authenticated-charts.ts";
import { chartArchive } from "../harness/chart-archive.ts";
import { waitForObject } from "../harness/wait.ts";
import { nodeName, startKubelet } from "../requests/kubelet.ts";
import { openPage, startBrowser } from "./browser.ts";
import {
  logIn,
  pods,
  setPodStatus,
  startDashboardFleet,
  versionedChart,
} from "./dashboard-fleet.ts";

const dashboard = await startDashboardFleet({ clusters: [{}, {}], names: ["paris", "lyon"] });
const { fleet, charts, address } = dashboard;
const { hub } = fleet;
const [paris, lyon] = fleet.clusters;
if (paris === undefined || lyon === undefined) throw new Error("the fleet has no two clusters");
const kubelet = await startKubelet(paris.client, fleet.dir);
afterAll(() => kubelet.close());
const registry = await startAuthenticatedCharts({ username: "shop", password: "right" });
afterAll(() => registry[Symbol.asyncDispose]());
const browser = await startBrowser();
const token = await dashboard.adminToken();

charts.publish(
  await chartArchive({
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
  }),
);

/** A registry with wrong credentials. */
await hub.create(secrets, {
  metadata: { namespace, name: "shop-login" },
  data: {
    username: Buffer.from("shop").toString("base64"),
    password: Buffer.from("wrong").toString("base64"),
  },
});
await hub.create(helmOps, {
  metadata: { namespace, name: "payments" },
  spec: {
    helm: { repo: registry.origin, chart: "payments", version: "1.x" },
    helmSecretName: "shop-login",
    targets: [{ clusterSelector: {} }],
  },
});
/** A chart of two pods, of which one crashes. */
await hub.create(helmOps, {
  metadata: { namespace, name: "checkout" },
  spec: {
    helm: { repo: charts.url, chart: "checkout", version: "2.0.0" },
    targets: [{ clusterName: "paris" }],
  },
});
const ofChart = { namespace: "default", name: "checkout" };
await waitForObject(paris.client, deployments, ofChart, "with its pods", (found) => {
  const { status } = found as { readonly status?: { readonly replicas?: number } };
  return status?.replicas === 2;
});
const [crashing = "", other = ""] = (
  await paris.client.reader.list(pods, { namespace: "default", labelSelector: "app=checkout" })
).map(({ metadata }) => metadata.name);
const panic = "panic: cannot reach the database at db:5432";
const listening = "listening on port 8080";
kubelet.logs.set(`default/${crashing}/app`, `${panic}\n`);
kubelet.logs.set(`default/${other}/app`, `${listening}\n`);
const terminated = { exitCode: 2, reason: "Error" };
const container = { name: "app", image: "example.com/checkout", imageID: "", ready: false };
await setPodStatus(
  paris.client,
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
/** An app that is deleted while its cluster is offline. */
charts.publish(await versionedChart("retired", "1.0.0"));
const retired = { namespace, name: "retired" };
await hub.create(helmOps, {
  metadata: retired,
  spec: {
    helm: { repo: charts.url, chart: "retired", version: "1.0.0" },
    targets: [{ clusterName: "lyon" }],
  },
});
await waitForObject(hub, helmOps, retired, "ready", ({ status }) => status?.readyClusters === 1);
/** A cluster that is offline. */
await lyon.stopAgent();
await waitForObject(
  hub,
  clusters,
  { namespace, name: "lyon" },
  "offline",
  (cluster) => cluster.status?.agent?.connected === false,
);
await hub.delete(helmOps, retired);

test("all three faults and what to do about them are found from the overview", async (t) => {
  const { page, context, errors } = await openPage(browser);
  t.onTestFinished(() => context.close());
  const startedAt = performance.now();
  await logIn(page, address, token);
  await page.getByText("3 things need attention").waitFor();
  const concern = (name: string) => page.locator(".concern").filter({ hasText: name });
  const textOf = async (name: string) => (await concern(name).textContent()) ?? "";

  // Wrong credentials: the registry's answer, and the Secret to correct.
  assert.match(await textOf("HelmOp payments"), /401/);
  assert.match(await textOf("HelmOp payments"), /What to do:.*rejects the credentials.*Secret/);
  // The offline cluster: since when, and that nothing is lost.
  assert.match(await textOf("Cluster lyon"), /Offline.*since.*What runs there keeps running/);
  // The crash: the container's reason is there at once, its log two clicks away.
  await page
    .getByText(/container app is in CrashLoopBackOff: exit code 2/)
    .first()
    .waitFor();
  await concern("HelmOp checkout").getByRole("link").first().click();
  await page
    .getByRole("table", { name: "Clusters of this app" })
    .getByRole("link", { name: "paris" })
    .click();
  const chosen = page.getByRole("complementary", { name: `Pod ${crashing}` });
  await chosen.getByText("CrashLoopBackOff").first().waitFor();
  await chosen.getByText("7 restarts").first().waitFor();
  await chosen.getByRole("button", { name: "Logs of this pod" }).click();
  await page.getByText(panic).waitFor();
  // And back: to the cluster, and to the fleet.
  await page
    .getByRole("navigation", { name: "Breadcrumb" })
    .getByRole("link", { name: "paris" })
    .click();
  await page.getByRole("heading", { name: "Cluster paris" }).waitFor();
  await page.getByRole("link", { name: "Overview" }).click();
  await page.getByText("3 things need attention").waitFor();

  assert.ok(performance.now() - startedAt < 120_000);
  assert.deepEqual(errors, []);
});

test("the logs of a pod are those of the chosen one alone, until all are wanted", async (t) => {
  const { page, context, errors } = await openPage(browser);
  t.onTestFinished(() => context.close());
  await logIn(page, address, token);
  await page.goto(`${address}/clusters/${namespace}/paris/releases/HelmOp/${namespace}/checkout`);
  const objects = page.getByRole("region", { name: "Objects of the release" });
  await objects.getByRole("button", { name: new RegExp(`^Pod .*${other}$`) }).click();

  const chosen = page.getByRole("complementary", { name: `Pod ${other}` });
  await chosen.getByRole("button", { name: "Logs of this pod" }).click();

  const logs = page.getByRole("tabpanel", { name: "Logs" });
  await logs.getByText(listening).waitFor();
  await logs.getByText("Loading …").waitFor({ state: "detached" });
  assert.equal(await logs.getByText(panic).count(), 0);
  await logs.getByRole("button", { name: `Show all pods (only ${other} now)` }).click();
  await logs.getByText(panic).waitFor();
  await logs.getByText(listening).waitFor();
  assert.deepEqual(errors, []);
});

test("a release that is still to be uninstalled is on the page of its cluster until it is", async (t) => {
  const { page, context, errors } = await openPage(browser);
  t.onTestFinished(() => context.close());
  await logIn(page, address, token);
  await page.goto(`${address}/clusters/${namespace}/lyon`);
  const release = page.getByRole("row", { name: "HelmOp retired" });

  await release.getByText("Uninstalling").waitFor();
  await release.getByText("waiting for the cluster's agent to connect").waitFor();
  assert.equal(await release.getByRole("link").count(), 0);
  await lyon.startAgent();

  await release.waitFor({ state: "detached" });
  assert.deepEqual(errors, []);
});
