/** A HelmOp in a real browser while it is upgraded: versions, map, history, and the values of a cluster. */
import assert from "node:assert/strict";
import { helmOps, type RolloutStrategy } from "@flotilla/shared/api";
import { workspaceNamespace as namespace } from "@flotilla/shared/api/names";
import { bundleRollouts } from "@flotilla/shared/api/rollout";
import type { ObjectRef } from "@flotilla/shared/kube/objects";
import { type TestContext, test } from "vitest";
import { chartArchive } from "../harness/chart-archive.ts";
import { waitForObject } from "../harness/wait.ts";
import { openPage, startBrowser, ticks } from "./browser.ts";
import {
  act,
  logIn,
  setPodStatus,
  startDashboardFleet,
  versionedChart,
} from "./dashboard-fleet.ts";
import { completeJob, hookedChart } from "./hooked-chart.ts";
import {
  assertWithoutLeak,
  assertWithoutSecrets,
  changePlanted,
  plantedApps,
  plantSecrets,
  upgradePlanted,
} from "./planted-secrets.ts";
import { apiChart, podOf, startPod } from "./waiting-pods.ts";

const dashboard = await startDashboardFleet({
  clusters: [{ env: "test" }, { env: "prod" }],
  names: ["paris", "lyon"],
  replicas: 2,
});
const { fleet, charts } = dashboard;
const { hub } = fleet;
const addresses = fleet.replicas.map(({ ports }) => `http://127.0.0.1:${ports.http}`);
const [first = "", second = ""] = addresses;
const browser = await startBrowser();
const token = await dashboard.adminToken();

const chart = (version: string) =>
  chartArchive({
    ...{ name: "web", version },
    values: "replicas: 1\ncolour: blue\n",
    templates: {
      "all.yaml":
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {version: {{ .Chart.Version | quote }}}\n",
    },
  });
charts.publish(await chart("1.0.0"), await chart("1.1.0"));
const ref = { namespace, name: "web" };
await hub.create(helmOps, {
  metadata: ref,
  spec: {
    helm: { repo: charts.url, chart: "web", version: "1.0.0", values: { replicas: 2 } },
    targets: [
      {
        name: "production",
        clusterSelector: { matchLabels: { env: "prod" } },
        helm: { values: { replicas: 5 } },
      },
      { name: "rest", clusterSelector: {} },
    ],
  },
});
await waitForObject(hub, helmOps, ref, "ready", ({ status }) => status?.readyClusters === 2);

/** A page of an administrator, until the test ends. */
async function openLoggedIn(t: TestContext) {
  const opened = await openPage(browser);
  t.onTestFinished(() => opened.context.close());
  await logIn(opened.page, first, token);
  return opened;
}

test("an upgrade is followed over two clusters, and its history stays", async (t) => {
  const { page, errors } = await openLoggedIn(t);
  await page.goto(`${first}/apps/HelmOp/${namespace}/web`);
  const rollout = page.getByRole("region", { name: "Rollout" });
  await rollout.getByRole("button", { name: "1.0.0 2 clusters" }).waitFor();

  await hub.patch(helmOps, ref, { type: "merge", body: { spec: { helm: { version: "1.1.0" } } } });

  await rollout.getByRole("button", { name: "1.1.0 2 clusters" }).waitFor();
  const history = page.getByRole("region", { name: "History" });
  await history.getByText("installed on 2 clusters, running on 2").waitFor();
  await history.getByText("installed on 2 clusters, replaced on all of them").waitFor();
  const versions = await history.locator("strong").allTextContents();
  assert.deepEqual(versions, ["1.1.0", "1.0.0"]);

  // A version chooses the clusters that run it, and a tile opens its release.
  await rollout.getByRole("button", { name: /^1.1.0/ }).click();
  await page.waitForURL(/version=1\.1\.0/);
  await rollout.getByRole("img").click({ position: { x: 5, y: 5 } });
  await page.getByRole("heading", { name: "web on lyon" }).waitFor();
  assert.deepEqual(errors, []);
});

test("the values of a cluster have their origins, on the page of the HelmOp", async (t) => {
  const { page } = await openLoggedIn(t);
  await page.goto(`${first}/apps/HelmOp/${namespace}/web?values=${namespace}/lyon`);

  const row = page.getByRole("row", { name: /^replicas/ });
  await row.getByText("target production").waitFor();
  assert.match((await row.textContent()) ?? "", /replicas5target production/);
  await page.getByRole("combobox", { name: "Cluster" }).selectOption(`${namespace}/paris`);
  await row.getByText("values in the spec").waitFor();
  assert.match((await row.textContent()) ?? "", /replicas2values in the spec/);
});

test("what an agent has answered is read again when the release changes", async (t) => {
  const { page } = await openLoggedIn(t);
  const path = `/clusters/${namespace}/paris/releases/HelmOp/${namespace}/web`;
  await page.goto(`${first}${path}?tab=values`);
  const row = page.getByRole("row", { name: /^replicas/ });
  await row.getByText("2", { exact: true }).waitFor();

  await hub.patch(helmOps, ref, {
    type: "merge",
    body: { spec: { helm: { values: { replicas: 7 } } } },
  });

  await row.getByText("7", { exact: true }).waitFor();
});

test("every replica opens the session of another one, and asks the one that has the agent", async (t) => {
  const { page, errors } = await openLoggedIn(t);

  const path = `/clusters/${namespace}/paris/releases/HelmOp/${namespace}/web?tab=history`;
  for (const address of addresses) {
    await page.goto(`${address}${path}`);
    await page.getByText(/^Revision 3: web 1\.1\.0$/).waitFor();
  }
  // The stream of the second replica has what the first one's agents report.
  await page.goto(`${second}/clusters/${namespace}/paris`);
  await page.getByRole("status").getByText("Live").waitFor();
  await hub.patch(helmOps, ref, { type: "merge", body: { spec: { suspend: true } } });
  await page.getByText("suspended", { exact: true }).waitFor();
  await hub.patch(helmOps, ref, { type: "merge", body: { spec: { suspend: false } } });
  await page.getByText("suspended", { exact: true }).waitFor({ state: "detached" });
  assert.deepEqual(errors, []);
});

/** A HelmOp for all clusters with these stages, whose chart has the versions 1.0.0, which it names, and 1.1.0. */
async function createStaged(name: string, stages: RolloutStrategy["stages"]): Promise<ObjectRef> {
  charts.publish(await versionedChart(name, "1.0.0"), await versionedChart(name, "1.1.0"));
  const of = { namespace, name };
  await hub.create(helmOps, {
    metadata: of,
    spec: {
      helm: { repo: charts.url, chart: name, version: "1.0.0" },
      targets: [{ clusterSelector: {} }],
      rolloutStrategy: { stages },
    },
  });
  return of;
}

test("a staged rollout is approved, halted, resumed and rolled back on the page", async (t) => {
  const of = await createStaged("staged", [
    { name: "canary", clusterSelector: { matchLabels: { env: "test" } } },
    { name: "rest", before: [{ name: "board", approval: {}, timeout: "72h" }] },
  ]);
  const waits = (name: string) =>
    waitForObject(
      hub,
      bundleRollouts,
      { namespace, name },
      "waiting at its gate",
      ({ status }) => status?.reason === "GateWaiting",
    );
  const { status } = await waits("staged-1");
  const { page, errors } = await openLoggedIn(t);

  const decisions = page.getByRole("region", { name: "Needs a decision" });
  await decisions.getByText(status?.message ?? "").waitFor();
  await decisions.getByRole("link", { name: /staged/ }).click();
  const stages = page.getByRole("region", { name: "Stages" });
  await stages.getByText(status?.message ?? "").waitFor();
  const since = stages.locator(".rollout-sentence time");
  assert.ok(status?.since);
  assert.equal(await since.getAttribute("datetime"), status.since);
  assert.match((await since.locator("..").textContent()) ?? "", /^ since \d+[smh]$/);
  assert.match(
    await act(page, "Approve"),
    /^flotilla approve helmop staged sha256:[0-9a-f]{64} -n fleet-default --stage rest$/,
  );
  await stages.getByText("2 of 2 clusters done").first().waitFor();
  await waitForObject(hub, helmOps, of, "ready", ({ status }) => status?.readyClusters === 2);

  await hub.patch(helmOps, of, { type: "merge", body: { spec: { helm: { version: "1.1.0" } } } });
  await waits("staged-2");
  await stages.getByText(/version 1\.1\.0, 1 of 2 clusters done/).waitFor();
  assert.equal(await act(page, "Halt"), `flotilla rollout halt helmop staged -n ${namespace}`);
  await act(page, "Resume rollout");
  await act(page, "Roll back");
  const history = page.getByRole("region", { name: "Staged rollouts" });
  await history.getByText("2: 1.1.0, Rolled back").waitFor();
  await history.getByText(/board of rest: passed by system:serviceaccount:.*:admin, /).waitFor();
  await waitForObject(
    hub,
    bundleRollouts,
    { namespace, name: "staged-2" },
    "rolled back",
    ({ status }) => status?.phase === "RolledBack",
  );
  assert.deepEqual(errors, []);
});

test("a plan is read on the page, group by group and object by object, before it is approved", async (t) => {
  const of = await createStaged("planned", [
    { name: "all", before: [{ name: "board", approval: { plan: true } }] },
  ]);
  const { page, errors } = await openLoggedIn(t);
  await page.goto(`${first}/apps/HelmOp/${namespace}/planned`);
  const stages = page.getByRole("region", { name: "Stages" });
  await stages.getByText("First installation in 2 clusters").waitFor();
  await act(page, "Approve");
  await waitForObject(hub, helmOps, of, "ready", ({ status }) => status?.readyClusters === 2);

  await hub.patch(helmOps, of, { type: "merge", body: { spec: { helm: { version: "1.1.0" } } } });
  await stages.getByText("Changes (1 to update) in 2 clusters").waitFor();
  const object = stages.getByText(/^ConfigMap default\/\S+: update$/);
  const change = stages.getByText(/^-.*1\.0\.0/m);
  assert.equal(await change.isVisible(), false);
  await object.click();
  await change.waitFor();
  assert.match((await change.textContent()) ?? "", /^\+.*1\.1\.0/m);
  await act(page, "Approve");
  await stages.getByText("2 of 2 clusters done").first().waitFor();
  assert.deepEqual(errors, []);
  await hub.delete(helmOps, of);
});

test("a user without the right to approve reads which one is missing", async (t) => {
  const of = { namespace, name: "gated" };
  await hub.create(helmOps, {
    metadata: of,
    spec: {
      helm: { repo: charts.url, chart: "staged", version: "1.0.0" },
      targets: [{ clusterSelector: {} }],
      rolloutStrategy: { stages: [{ name: "all", before: [{ name: "board", approval: {} }] }] },
    },
  });
  const { page, context } = await openPage(browser);
  t.onTestFinished(() => context.close());
  const kinds = ["helmops", "bundles", "bundlerollouts", "gates"];
  await logIn(page, first, await dashboard.readerToken(namespace, kinds));
  await page.goto(`${first}/apps/HelmOp/${namespace}/gated`);

  const approve = page.getByRole("button", { name: "Approve" });
  await approve.waitFor();
  assert.equal(await approve.getAttribute("aria-disabled"), "true");
  await approve.click({ force: true });
  await page
    .locator(".action-panel")
    .getByText(`you may not patch gates/status in namespace ${namespace}`)
    .waitFor();
  await page.getByRole("button", { name: "Halt" }).click({ force: true });
  await page
    .locator(".action-panel")
    .getByText(`you may not patch bundlerollouts in namespace ${namespace}`)
    .waitFor();
  await hub.delete(helmOps, of);
});

test("an upgrade that is stuck on one of two clusters says why, and where", async (t) => {
  charts.publish(await apiChart("1.0.0"), await apiChart("1.1.0"));
  const of = { namespace, name: "api" };
  await hub.create(helmOps, {
    metadata: of,
    spec: {
      helm: { repo: charts.url, chart: "api", version: "1.0.0" },
      targets: [{ clusterSelector: {} }],
    },
  });
  for (const { client } of fleet.clusters) await startPod(client, await podOf(client, "1.0.0"));
  await waitForObject(hub, helmOps, of, "ready", ({ status }) => status?.readyClusters === 2);

  await hub.patch(helmOps, of, { type: "merge", body: { spec: { helm: { version: "1.1.0" } } } });
  const [paris, lyon] = fleet.clusters;
  assert.ok(paris !== undefined && lyon !== undefined);
  await startPod(lyon.client, await podOf(lyon.client, "1.1.0"));
  const stuck = await podOf(paris.client, "1.1.0");
  const why = "0/3 nodes are available: 3 Insufficient memory.";
  const unscheduled = {
    ...{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: why },
    lastTransitionTime: new Date(Date.now() - 300_000).toISOString(),
  };
  await setPodStatus(
    paris.client,
    { namespace: "default", name: stuck },
    { conditions: [unscheduled] },
  );

  const { page, errors } = await openLoggedIn(t);
  const reason = `its rollout waits for 1 replica that is not available: pod ${stuck}: is not scheduled: ${why}`;
  // The only thing that is wrong in this fleet.
  await page.locator(".concern").first().getByText(reason).waitFor();
  await page.goto(`${first}/apps/HelmOp/${namespace}/api`);
  const rollout = page.getByRole("region", { name: "Rollout" });
  await rollout.getByRole("button", { name: "1.1.0 2 clusters, 1 not ready" }).waitFor();
  const history = page.getByRole("region", { name: "History" });
  await history.getByText("running on 2; not ready on 1 of them").waitFor();
  await page
    .getByRole("table", { name: "Clusters of this app" })
    .getByRole("link", { name: "paris" })
    .click();
  const chosen = page.getByRole("complementary", { name: `Pod ${stuck}` });
  await chosen.getByText(`is not scheduled: ${why}`).waitFor();
  const condition = chosen.getByRole("list", { name: "Conditions" }).getByRole("listitem");
  assert.match(
    (await condition.textContent()) ?? "",
    /^PodScheduled False, Unschedulable since 5m0\/3 nodes are available/,
  );
  assert.deepEqual(errors, []);
});

test("the overview draws no frame while an app is in progress and nothing changes", async (t) => {
  charts.publish(await hookedChart("slow"));
  const of = { namespace, name: "slow" };
  await hub.create(helmOps, {
    metadata: of,
    spec: {
      helm: { repo: charts.url, chart: "slow", version: "1.0.0" },
      targets: [{ clusterName: "paris" }],
    },
  });
  const { client } = fleet.clusters[0] ?? assert.fail();
  const { page, context, errors } = await openPage(browser, { motion: true });
  t.onTestFinished(() => context.close());
  await page.addInitScript(`{
    const request = requestAnimationFrame;
    globalThis.requestedFrames = 0;
    globalThis.requestAnimationFrame = (draw) => {
      globalThis.requestedFrames += 1;
      return request(draw);
    };
  }`);
  const frames = () => page.evaluate<number>("requestedFrames");
  await logIn(page, first, token);
  const progress = page.getByRole("progressbar", { name: /^slow:/ });
  await progress.waitFor();

  // By the page's own clock: each tick draws the ages of the events again.
  await page.evaluate(ticks(1));
  const before = await frames();
  await page.evaluate(ticks(3));
  assert.equal((await frames()) - before, 0);

  await completeJob(client, "migrate-slow");
  await progress.waitFor({ state: "detached" });
  await page.evaluate(ticks(1));
  assert.ok((await frames()) > before, "a change is drawn in several frames");
  assert.deepEqual(errors, []);
});

// The last one: an app stays broken.
test("values of Secrets are on no page of a planned rollout, and in no object, log, Event or metric where they do not belong", async (t) => {
  const { page, context, errors } = await openLoggedIn(t);
  const stages = page.getByRole("region", { name: "Stages" });

  /** Opens the page of the app, which shows this of its plan, and approves it. */
  async function approvePlan(kind: keyof typeof plantedApps, shown: RegExp): Promise<string> {
    await page.goto(`${first}/apps/${kind}/${namespace}/${plantedApps[kind]}`);
    await stages.getByText(shown).waitFor();
    const html = await page.content();
    assertWithoutSecrets(`the page of the ${kind}`, html);
    await act(page, "Approve");
    return html;
  }
  const completed = (name: string) =>
    waitForObject(
      hub,
      bundleRollouts,
      { namespace, name },
      "completed",
      ({ status }) => status?.phase === "Completed",
    );
  await plantSecrets(dashboard);
  for (const kind of ["HelmOp", "HelmRelease"] as const)
    await approvePlan(kind, /^First installation .*in 2 clusters$/);
  for (const name of ["planted-1", "helmrelease-seeded-1"]) await completed(name);

  await changePlanted(hub);
  await approvePlan("HelmOp", /^Changes \(1 to update\) in 2 clusters$/);
  const html = await approvePlan("HelmRelease", /^Changes \(2 to update\) in 2 clusters$/);
  assert.match(html, /\*\*\* \(live\)/);
  for (const name of ["planted-2", "helmrelease-seeded-2"]) await completed(name);
  // The API server and Helm name the value when they reject it.
  await upgradePlanted(hub, "3.0.0");
  await approvePlan("HelmOp", /^Would fail at 1 object .*in 2 clusters$/);
  await fleet.workspace.waitForMessage("planted", /clusterIP/);

  await assertWithoutLeak(context.request, dashboard);
  assert.deepEqual(errors, []);
});
