/** Three faults at once: each is found from the overview, with its reason and what to do, in a few clicks and without kubectl. */
import assert from "node:assert/strict";
import { clusters, helmOps } from "@flotilla/shared/api";
import { workspaceNamespace as namespace } from "@flotilla/shared/api/names";
import { deployments, secrets } from "@flotilla/shared/kube/objects";
import { afterAll, test } from "vitest";
import { startAuthenticatedCharts } from "../harness/authenticated-charts.ts";
import { waitForObject } from "../harness/wait.ts";
import { chartOf } from "../helmrelease/release-fleet.ts";
import { nodeName, startKubelet } from "../requests/kubelet.ts";
import { checkoutChart, plantMore } from "./broken-fleet-faults.ts";
import { openPage, startBrowser } from "./browser.ts";
import {
  createRelease,
  createRepository,
  logIn,
  pods,
  setPodStatus,
  startDashboardFleet,
  versionedChart,
} from "./dashboard-fleet.ts";
import { failJob, hookedChart } from "./hooked-chart.ts";

const dashboard = await startDashboardFleet({
  clusters: [{ env: "prod" }, { env: "stage" }],
  names: ["paris", "lyon"],
});
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

charts.publish(await checkoutChart(nodeName));

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
  await logIn(page, address, token);
  await page.getByText("3 things need attention").waitFor();
  const concern = (name: string) => page.locator(".concern").filter({ hasText: name });
  const textOf = async (name: string) => (await concern(name).textContent()) ?? "";

  // Wrong credentials: the registry's answer, and the Secret to correct.
  assert.match(await textOf("HelmOp payments"), /401/);
  assert.match(
    await textOf("HelmOp payments"),
    /What to do:.*Correct the Secret fleet-default\/shop-login/,
  );
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

  assert.deepEqual(errors, []);
});

test("the worst comes first, one cause is one entry, and each says what to do", async (t) => {
  await plantMore({ hub, paris: paris.client, charts, registryUrl: registry.origin });
  const { page, context, errors } = await openPage(browser);
  t.onTestFinished(() => context.close());
  await logIn(page, address, token);
  await page.getByText("9 things need attention").waitFor();
  const concerns = page.locator(".concern");
  const concern = (name: string) => concerns.filter({ hasText: name });

  // A dependency that does not come is in progress for a minute.
  await page.getByRole("region", { name: "In progress" }).getByText("waiting").waitFor();
  await page.evaluate(() => {
    const now = Date.now.bind(Date);
    Date.now = () => now() + 120_000;
  });
  await page.getByText("10 things need attention").waitFor();
  assert.equal(await page.getByRole("region", { name: "In progress" }).count(), 0);

  const found = await concerns.evaluateAll((all) =>
    all.map((each) => ({
      name: each.querySelector(".concern-what strong")?.textContent ?? "",
      since: each.querySelector("time")?.dateTime ?? "",
    })),
  );
  // What is down, what somebody has changed, and then what has never run.
  assert.deepEqual(
    found.slice(0, 3).map(({ name }) => name),
    ["lyon", "checkout", "web"],
  );
  const never = found.slice(3);
  assert.deepEqual(never.map(({ name }) => name).sort(), [
    ...["denied", "long", "nowhere", "payments", "private", "search", "waiting"],
  ]);
  assert.deepEqual(
    never.map(({ since }) => since),
    never.map(({ since }) => since).sort((one, other) => (one > other ? -1 : 1)),
  );

  const texts: readonly (readonly [string, RegExp])[] = [
    ["HelmOp web", /paris: ConfigMap default\/web: changed.*flotilla diff/],
    ["HelmOp nowhere", /No targets.*no Cluster has env=prd; env is prod, stage.*--show-labels/],
    ["HelmOp search", /Not accepted.*constraint/],
    ["HelmOp denied", /Not accepted.*miner.*A Policy of its namespace forbids it/],
    ["HelmOp waiting", /Blocked by HelmOp wbe: HelmOp wbe does not exist\..*Create it/],
    [
      "HelmRepository private",
      /401.*2 apps affected: HelmRelease cart, HelmRelease stock.*Secret fleet-default\/shop-login/,
    ],
  ];
  for (const [name, text] of texts)
    assert.match((await concern(name).textContent()) ?? "", text, name);

  // A long error is cut, with a mark.
  const long = concern("HelmOp long");
  await long.getByRole("button", { name: /^Show \d+ more characters$/ }).click();
  await long.getByRole("button", { name: "Show less" }).waitFor();

  // The counts are filters.
  await page.getByRole("button", { name: "Down or unreachable 2" }).click();
  assert.equal(await concerns.count(), 2);
  await page.getByRole("button", { name: "Down or unreachable 2" }).click();

  // What is blocked is so in the counts and the list, too.
  await page.getByRole("link", { name: "1 Blocked" }).click();
  const listed = page.getByRole("table", { name: "Apps" }).getByRole("row");
  await listed.filter({ hasText: "waiting" }).getByText("Blocked", { exact: true }).waitFor();
  assert.equal(await listed.filter({ hasText: "HelmOp" }).count(), 1);
  await page.goBack();

  // The advice is on the page of the object, too, with what has to be corrected.
  await concern("HelmRepository private").getByRole("link", { name: "HelmRelease cart" }).click();
  const head = page.locator(".detail-head");
  await head.getByText("Caused by HelmRepository private").waitFor();
  assert.equal(await page.title(), "HelmRelease cart · Flotilla");
  await page.goto(`${address}/apps/HelmOp/${namespace}/nowhere`);
  await head.getByText("No targets", { exact: true }).waitFor();
  await head.getByText(/What to do:/).waitFor();
  const targets = page.getByRole("table", { name: "Clusters of this app" });
  await targets
    .getByText(/no target matches it/)
    .first()
    .waitFor();
  await page.goto(`${address}/clusters/${namespace}/paris/releases/HelmOp/${namespace}/web`);
  await head.getByText("ConfigMap default/web: /data/version changed").waitFor();
  await head.getByText("flotilla diff helmop/web -n fleet-default --cluster paris").waitFor();
  assert.deepEqual(errors, []);
});

test("a hook that fails is found while it runs and after it has failed, down to its log", async (t) => {
  charts.publish(await hookedChart("hooked", nodeName));
  await createRepository(hub, "public", { url: charts.url });
  await createRelease(hub, "hooked", {
    ...chartOf("hooked", "1.x", "public"),
    targets: [{ clusterName: "paris" }],
    // Then Helm has no record of it any more.
    install: { remediation: { retries: 0, remediateLastFailure: true } },
  });
  const { page, context, errors } = await openPage(browser);
  t.onTestFinished(() => context.close());
  await logIn(page, address, token);
  await page.goto(
    `${address}/clusters/${namespace}/paris/releases/HelmRelease/${namespace}/hooked`,
  );
  const objects = page.getByRole("region", { name: "Objects of the release" });
  const job = objects.getByRole("button", { name: /^Job hook pre-install, .*migrate-hooked$/ });
  // Until Helm has run for a few seconds, nothing is known of it.
  while ((await job.count()) === 0) {
    await page.getByRole("button", { name: "Refresh" }).click();
    await page.waitForTimeout(500);
  }

  const pod = await failJob(paris.client, "migrate-hooked");
  kubelet.logs.set(`default/${pod}/migrate`, "no such table: orders\n");

  await page.getByRole("link", { name: "Overview" }).click();
  const concerns = page.locator(".concern");
  await concerns.filter({ hasText: "HelmRelease hooked" }).waitFor();
  // Nothing that ran is down, so it comes behind what is; and before what has failed earlier.
  const names = await page.locator(".concern-what strong").allTextContents();
  assert.equal(names[names.indexOf("hooked") - 1], "web");
  await concerns.filter({ hasText: "HelmRelease hooked" }).getByRole("link").first().click();
  await page
    .getByRole("table", { name: "Clusters of this app" })
    .getByRole("link", { name: "paris" })
    .click();
  // The pod says most, so it is chosen.
  const chosen = page.getByRole("complementary", { name: `Pod ${pod}` });
  await chosen.getByText("hook pre-install").waitFor();
  await chosen.getByText("migration failed").first().waitFor();
  await chosen.getByRole("button", { name: "Logs of this pod" }).click();
  await page.getByText("no such table: orders").waitFor();
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
  // Of one container, no line names it.
  assert.equal(await logs.getByText(`[${other}/app]`).count(), 0);
  const isAt = (text: string) => logs.getByText(text).waitFor();
  kubelet.logs.set(
    `default/${other}/app`,
    `\u001b[32m${listening}\u001b[0m\n2026-01-01T10:00:00Z served a request\n`,
  );
  await logs.getByLabel("follow").check();
  await isAt("served a request");
  await logs.getByLabel("follow").uncheck();
  assert.equal(
    await logs.locator("pre").textContent(),
    `${listening}\n${await logs.locator("pre time").textContent()} served a request\n`,
  );
  const download = page.waitForEvent("download");
  await logs.getByRole("button", { name: "Download" }).click();
  const saved = await (await download).createReadStream();
  assert.equal(
    (await saved.toArray()).join(""),
    `${listening}\n2026-01-01T10:00:00Z served a request\n`,
  );
  await logs.getByRole("button", { name: `Show all pods (only ${other} now)` }).click();
  await isAt(panic);
  await isAt(listening);
  await isAt(`[${crashing}/app]`);
  await logs.getByRole("combobox", { name: "Container" }).selectOption(`${other}/app`);
  await logs.getByText(panic).waitFor({ state: "detached" });
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
