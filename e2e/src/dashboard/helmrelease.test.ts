/** HelmReleases and sources of Flux in a real browser: where a chart comes from, why it does not come, and actions. */
import assert from "node:assert/strict";
import { workspaceNamespace as namespace } from "@flotilla/shared/api/names";
import { helmReleases, helmRepositories } from "@flotilla/shared/flux";
import { namespaces, secrets } from "@flotilla/shared/kube/objects";
import type { Locator } from "playwright-core";
import { afterAll, test } from "vitest";
import { startAuthenticatedCharts } from "../harness/authenticated-charts.ts";
import { chartArchive } from "../harness/chart-archive.ts";
import { configMapText } from "../harness/object-text.ts";
import { currentCondition, waitForObject } from "../harness/wait.ts";
import { chartOf } from "../helmrelease/release-fleet.ts";
import { openPage, startBrowser } from "./browser.ts";
import {
  act,
  createRelease,
  createRepository,
  logIn,
  startDashboardFleet,
  versionedChart,
} from "./dashboard-fleet.ts";

const dashboard = await startDashboardFleet({
  clusters: [{ env: "prod" }, { env: "test" }],
  names: ["paris", "lyon"],
});
const { fleet, charts, address } = dashboard;
const { hub } = fleet;
const [paris] = fleet.clusters;
assert.ok(paris !== undefined);
const browser = await startBrowser();
const token = await dashboard.adminToken();
const login = { username: "shop", password: "right" };
const registry = await startAuthenticatedCharts(login);
afterAll(() => registry[Symbol.asyncDispose]());

const late = "late";
charts.publish(
  await versionedChart("shop", "1.0.0"),
  await chartArchive({
    ...{ name: "flaky", version: "1.0.0" },
    templates: { "all.yaml": configMapText("flaky", { namespace: late }) },
  }),
);
await createRepository(hub, "charts", { url: charts.url });
const inProd = [{ clusterSelector: { matchLabels: { env: "prod" } } }];
const shop = { namespace, name: "shop" };
await createRelease(hub, "shop", { ...chartOf("shop", "1.x"), targets: inProd });
await waitForObject(
  hub,
  helmReleases,
  shop,
  "ready",
  (release) => currentCondition(release, "Ready")?.status === "True",
);

/** A row in a panel of facts. */
const fact = (panel: Locator, name: string) =>
  panel
    .locator(".fact")
    .filter({ hasText: new RegExp(`^${name}`) })
    .locator("dd");

test("a HelmRelease shows its source, constraint, version and targets, and its source shows who uses it", async (t) => {
  const { page, context, errors } = await openPage(browser);
  t.onTestFinished(() => context.close());
  await logIn(page, address, token);
  await page.goto(`${address}/apps/HelmRelease/${namespace}/shop`);

  const chart = page.getByRole("region", { name: "Chart" });
  await fact(chart, "Chart").getByText(`shop from ${charts.url}`).waitFor();
  await fact(chart, "Constraint").getByText("1.x", { exact: true }).waitFor();
  await fact(chart, "Resolved to").getByText("1.0.0", { exact: true }).waitFor();
  const targets = page.getByRole("table", { name: "Clusters of this app" });
  const row = targets.getByRole("row").filter({ hasText: "paris" });
  await row.getByText("1.0.0", { exact: true }).waitFor();
  assert.equal(await targets.getByRole("link").count(), 1);
  await page.getByRole("combobox", { name: "Show" }).selectOption("out");
  await targets.getByRole("link", { name: "lyon" }).waitFor();

  await fact(chart, "Source").getByRole("link", { name: "HelmRepository" }).click();
  await page.getByRole("heading", { level: 1, name: "HelmRepository charts" }).waitFor();
  const source = page.getByRole("region", { name: "Source" });
  await fact(source, "Address").getByText(charts.url).waitFor();
  await fact(source, "Last fetch")
    .getByText(/succeeded$/)
    .waitFor();
  await fact(source, "Used by")
    .getByRole("link", { name: `${namespace}/shop` })
    .click();
  await page.getByRole("heading", { level: 1, name: "HelmRelease shop" }).waitFor();
  assert.deepEqual(errors, []);
});

test("a source is suspended, resumed and read at once, with the commands of flotilla", async (t) => {
  const { page, context, errors } = await openPage(browser);
  t.onTestFinished(() => context.close());
  await logIn(page, address, token);
  await page.goto(`${address}/sources/HelmRepository/${namespace}/charts`);
  const repository = { namespace, name: "charts" };
  const suspended = page.locator(".detail-head").getByText("suspended", { exact: true });

  assert.equal(
    await act(page, "Suspend"),
    `flotilla suspend helmrepository charts -n ${namespace}`,
  );
  await suspended.waitFor();
  await waitForObject(
    hub,
    helmRepositories,
    repository,
    "suspended",
    ({ spec }) => spec?.suspend === true,
  );
  charts.publish(await versionedChart("shop", "1.1.0"));
  assert.equal(await act(page, "Resume"), `flotilla resume helmrepository charts -n ${namespace}`);
  await suspended.waitFor({ state: "detached" });
  assert.equal(
    await act(page, "Poll now"),
    `flotilla reconcile helmrepository charts -n ${namespace}`,
  );

  await waitForObject(
    hub,
    helmReleases,
    shop,
    "upgraded",
    ({ status }) => status?.lastAttemptedRevision === "1.1.0",
  );
  const who = "system:serviceaccount:dashboard-users:admin on the dashboard";
  for (const what of ["suspended", "resumed", "poll requested"])
    await page.getByText(`${what} by ${who}`).waitFor();
  assert.deepEqual(errors, []);
});

test("a user retries a failed release that has no retries left", async (t) => {
  const ref = { namespace, name: "flaky" };
  await createRelease(hub, "flaky", {
    ...chartOf("flaky", "1.0.0"),
    targets: inProd,
    install: { remediation: { retries: 0 } },
  });
  await waitForObject(
    hub,
    helmReleases,
    ref,
    "stalled",
    (release) => currentCondition(release, "Stalled")?.reason === "RetriesExceeded",
  );
  const { page, context, errors } = await openPage(browser);
  t.onTestFinished(() => context.close());
  await logIn(page, address, token);
  await page.goto(`${address}/apps/HelmRelease/${namespace}/flaky`);
  await page.locator(".detail-why").getByText('namespaces "late" not found').waitFor();
  await paris.client.create(namespaces, { metadata: { name: late } });

  assert.equal(
    await act(page, "Retry"),
    `flotilla reconcile helmrelease flaky -n ${namespace} --reset`,
  );

  await page.getByText("ready on 1 of 1 cluster").waitFor();
  const release = await hub.reader.get(helmReleases, ref);
  const { lastHandledReconcileAt, lastHandledResetAt } = release?.status ?? {};
  assert.ok(lastHandledResetAt !== undefined && lastHandledResetAt === lastHandledReconcileAt);
  await page.getByText(/^retry requested by /).waitFor();
  assert.deepEqual(errors, []);
});

test("a source that rejects the credentials is on the overview, until its Secret is corrected", async (t) => {
  const secret = { namespace, name: "login" };
  await hub.create(secrets, { metadata: secret, stringData: { ...login, password: "wrong" } });
  await createRepository(hub, "private", {
    url: registry.origin,
    secretRef: { name: secret.name },
  });
  const { page, context, errors } = await openPage(browser);
  t.onTestFinished(() => context.close());
  await logIn(page, address, token);

  const concern = page.locator(".concern").filter({ hasText: "HelmRepository private" });
  await concern.getByText(/401/).waitFor();
  await concern.getByText(`Correct the Secret ${namespace}/login`).waitFor();
  await concern.getByRole("link").click();
  await page.getByRole("heading", { level: 1, name: "HelmRepository private" }).waitFor();
  await page.locator(".detail-why").getByText(/401/).waitFor();

  await hub.patch(secrets, secret, {
    type: "merge",
    body: { stringData: { password: login.password } },
  });

  await page.locator(".detail-head").getByText("Ready", { exact: true }).waitFor();
  await page.getByRole("link", { name: "Overview" }).click();
  await page.getByText("All is well: ").waitFor();
  assert.deepEqual(errors, []);
});
