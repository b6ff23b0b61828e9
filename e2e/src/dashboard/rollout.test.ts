/** A HelmOp in a real browser while it is upgraded: versions, map, history, and the values of a cluster. */
import assert from "node:assert/strict";
import { helmOps } from "@flotilla/shared/api";
import { workspaceNamespace as namespace } from "@flotilla/shared/api/names";
import { test } from "vitest";
import { chartArchive } from "../harness/chart-archive.ts";
import { waitForObject } from "../harness/wait.ts";
import { openPage, startBrowser } from "./browser.ts";
import { logIn, startDashboardFleet } from "./dashboard-fleet.ts";

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

test("an upgrade is followed over two clusters, and its history stays", async (t) => {
  const { page, context, errors } = await openPage(browser);
  t.onTestFinished(() => context.close());
  await logIn(page, first, token);
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
  const { page, context } = await openPage(browser);
  t.onTestFinished(() => context.close());
  await logIn(page, first, token);
  await page.goto(`${first}/apps/HelmOp/${namespace}/web?values=${namespace}/lyon`);

  const row = page.getByRole("row", { name: /^replicas/ });
  await row.getByText("target production").waitFor();
  assert.match((await row.textContent()) ?? "", /replicas5target production/);
  await page.getByRole("combobox", { name: "Cluster" }).selectOption(`${namespace}/paris`);
  await row.getByText("values in the spec").waitFor();
  assert.match((await row.textContent()) ?? "", /replicas2values in the spec/);
});

test("what an agent has answered is read again when the release changes", async (t) => {
  const { page, context } = await openPage(browser);
  t.onTestFinished(() => context.close());
  await logIn(page, first, token);
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
  const { page, context, errors } = await openPage(browser);
  t.onTestFinished(() => context.close());
  await logIn(page, first, token);

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
