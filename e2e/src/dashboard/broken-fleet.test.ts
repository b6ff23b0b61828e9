/** Three faults at once: each is found from the overview, with its reason and what to do, in a few clicks and without kubectl. */
import assert from "node:assert/strict";
import { clusters, helmOps } from "@flotilla/shared/api";
import { workspaceNamespace as namespace } from "@flotilla/shared/api/names";
import { secrets } from "@flotilla/shared/kube/objects";
import { afterAll, test } from "vitest";
import { startAuthenticatedCharts } from "../harness/authenticated-charts.ts";
import { waitForObject } from "../harness/wait.ts";
import { chartOf } from "../helmrelease/release-fleet.ts";
import { nodeName, startKubelet } from "../requests/kubelet.ts";
import { longName, outage, plantCrash, plantMore, plantSuspended } from "./broken-fleet-faults.ts";
import { cutTexts, openPage, startBrowser, viewports } from "./browser.ts";
import {
  act,
  createRelease,
  logIn,
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

charts.publish(
  await versionedChart("web", "1.0.0"),
  await versionedChart("retired", "1.0.0"),
  await hookedChart("hooked", nodeName),
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
const panic = "panic: cannot reach the database at db:5432";
const listening = "listening on port 8080";
const { crashing, other } = await plantCrash({ hub, paris: paris.client, charts });
kubelet.logs.set(`default/${crashing}/app`, `${panic}\n`);
kubelet.logs.set(`default/${other}/app`, `${listening}\n`);
/** An app that is deleted while its cluster is offline. */
const retired = { namespace, name: "retired" };
await hub.create(helmOps, {
  metadata: retired,
  spec: {
    helm: { repo: charts.url, chart: "retired", version: "1.0.0" },
    targets: [{ clusterName: "lyon" }],
  },
});
await plantSuspended({ hub, charts });
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
  await page.getByText("14 things need attention").waitFor();
  const concerns = page.locator(".concern");
  const concern = (name: string) => concerns.filter({ hasText: name });

  // What waits for a dependency that does not come, or until it is resumed, is not a concern for the first minute.
  const progress = page.getByRole("region", { name: "In progress" });
  await progress.getByText("waiting").waitFor();
  await page.evaluate(() => {
    const now = Date.now.bind(Date);
    Date.now = () => now() + 120_000;
  });
  await page.getByText("18 things need attention").waitFor();
  assert.equal(await progress.count(), 0);
  await page.getByRole("button", { name: "Show 8 more" }).click();

  const found = await concerns.evaluateAll((all) =>
    all.map((each) => ({
      name: each.querySelector(".concern-what strong")?.textContent ?? "",
      since: each.querySelector("time")?.dateTime ?? "",
    })),
  );
  // What is down; what runs, but not as desired; and what has never run.
  const never = [
    ...["denied", "future", "locked", "lonely", "long", "nowhere", "orphan", "payments", "private"],
    ...["search", longName, "unset", "waiting"],
  ];
  const groups = [["lyon", "checkout", `${outage} clusters offline`], ["web", "frozen"], never];
  let rest = found;
  for (const group of groups) {
    const own = rest.slice(0, group.length);
    rest = rest.slice(group.length);
    assert.deepEqual(own.map(({ name }) => name).sort(), group.toSorted());
    // The newest of each comes first.
    const times = own.map(({ since }) => Date.parse(since));
    assert.deepEqual(
      times,
      times.toSorted((one, other) => other - one),
    );
  }
  assert.deepEqual(rest, []);

  const texts: readonly (readonly [string, RegExp])[] = [
    ["HelmOp web", /paris: ConfigMap default\/web: changed.*flotilla diff/],
    ["HelmOp nowhere", /No targets.*no Cluster has env=prd; env is prod, stage.*--show-labels/],
    ["HelmOp search", /Not accepted.*constraint/],
    ["HelmOp denied", /Not accepted.*miner.*A Policy of its namespace forbids it/],
    ["HelmOp locked", /there is no Secret fleet-default\/no-login.*Create or correct the Secret/],
    [
      "HelmOp unset",
      /paris: Secret default\/no-values not found, which valuesFrom references.*Create or correct Secret default\/no-values, which valuesFrom names, in that cluster.*kubectl get secret\/no-values -n default/,
    ],
    [
      "HelmRelease future",
      /Not accepted.*for web-\^9: .* lists one version, 1\.0\.0.*Correct the chart or the version/,
    ],
    ["HelmOp frozen", /suspended.*1 cluster waits for it until it is resumed\..*Resume it/],
    ["clusters offline", /since 1hCluster store-0, .* and 95 more.*What runs there keeps running/],
    ["HelmOp waiting", /Blocked by HelmOp wbe: HelmOp wbe does not exist\..*Create it/],
    [
      "HelmOp orphan",
      /Blocked: HelmOp orphan depends on a Bundle that matches tier=base, and there is none\. 1 cluster waits.*get bundles/,
    ],
    [
      "HelmRelease lonely",
      /Blocked by HelmRelease base: HelmRelease platform\/base does not exist\. 1 cluster waits.*Create it/,
    ],
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
  await page.getByRole("button", { name: "Down or unreachable 3" }).click();
  assert.equal(await concerns.count(), 3);
  await page.getByRole("button", { name: "Down or unreachable 3" }).click();

  // What is blocked is so in the counts and the list, too.
  await page.getByRole("link", { name: "4 Blocked" }).click();
  const listed = page.getByRole("table", { name: "Apps" }).getByRole("row");
  for (const name of ["HelmOp waiting", "HelmOp orphan", "HelmRelease lonely"])
    await listed
      .filter({ has: page.getByRole("link", { name }) })
      .getByText("Blocked", { exact: true })
      .waitFor();
  assert.equal(await listed.filter({ hasText: "HelmOp" }).count(), 3);

  // What is suspended says so on its page, too, until it is resumed.
  const head = page.locator(".detail-head");
  await listed.getByRole("link", { name: "HelmOp frozen" }).click();
  await head.getByText("It is suspended: 1 cluster waits for it until it is resumed.").waitFor();
  await act(page, "Resume");
  await head.getByText("Ready", { exact: true }).waitFor();
  await page.goBack();
  await page.goBack();
  await page.getByText("17 things need attention").waitFor();
  assert.equal(await concerns.count(), 17);

  // The advice is on the page of the object, too, with what has to be corrected.
  await concern("HelmRepository private").getByRole("link", { name: "HelmRelease cart" }).click();
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

test("a hundred clusters are one entry, and the longest name is readable, also on a phone", async (t) => {
  const { page, context, errors } = await openPage(browser);
  t.onTestFinished(() => context.close());
  await logIn(page, address, token);
  const long = page.locator(".concern").filter({ hasText: longName });
  for (const size of [viewports.desktop, viewports.phone]) {
    await page.setViewportSize(size);
    await page.getByRole("button", { name: /^Show \d+ more$/ }).click();
    await long.getByText(longName, { exact: true }).waitFor();
    assert.deepEqual(await cutTexts(page, ".concern, .counts"), []);
    await long.getByRole("link").first().click();
    await page.getByRole("heading", { name: `HelmOp ${longName}` }).waitFor();
    assert.deepEqual(await cutTexts(page, ".detail-head"), []);
    await page.getByRole("link", { name: "Overview" }).click();
  }

  await page.getByRole("link", { name: `${outage} clusters offline` }).click();
  await page.getByRole("heading", { name: `Clusters ${outage + 1} of ${outage + 2}` }).waitFor();
  assert.deepEqual(await cutTexts(page, ".list .table-line"), []);

  // Far below what is shown at first, the keys go on at the same row after Back, too.
  const focused = page.locator(".table-body a:focus");
  for (let row = 0; row < 60; row += 1) await page.keyboard.press("j");
  const name = (await focused.textContent()) ?? assert.fail();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: `Cluster ${name}` }).waitFor();
  await page.goBack();
  await page.getByRole("link", { name, exact: true }).waitFor();
  await page.keyboard.press("k");
  const before = await focused.textContent();
  await page.keyboard.press("j");
  assert.equal(await focused.textContent(), name);
  assert.notEqual(before, name);
  assert.deepEqual(errors, []);
});

test("a hook that fails is found while it runs and after it has failed, down to its log", async (t) => {
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
  // Where there is one container, no line names it.
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
