/** Lists in a real browser: filtered and sorted by what their address says; and a page with a missing part. */
import assert from "node:assert/strict";
import { clusters, helmOps } from "@flotilla/shared/api";
import { workspaceNamespace as namespace } from "@flotilla/shared/api/names";
import type { Locator, Page } from "playwright-core";
import { describe, test } from "vitest";
import { waitForObject } from "../harness/wait.ts";
import { openPage, startBrowser, viewports } from "./browser.ts";
import { logIn, startDashboardFleet, versionedChart } from "./dashboard-fleet.ts";

const dashboard = await startDashboardFleet({
  clusters: [{ env: "test" }, { env: "prod" }],
  names: ["paris", "lyon"],
});
const { fleet, charts, address } = dashboard;
const { hub } = fleet;
const browser = await startBrowser();
const token = await dashboard.adminToken();

charts.publish(
  await versionedChart("shop", "1.9.0"),
  await versionedChart("shop", "1.10.0"),
  await versionedChart("api", "2.0.0"),
);
const hasEnv = { key: "env", operator: "Exists" } as const;
const everywhere = [{ clusterSelector: { matchExpressions: [hasEnv] } }];
const inProd = [{ clusterSelector: { matchLabels: { env: "prod" } } }];
for (const [name, team, chartName, version, targets] of [
  ["old", "sales", "shop", "1.9.0", everywhere],
  ["new", "sales", "shop", "1.10.0", everywhere],
  ["api", "core", "api", "2.0.0", inProd],
  ["broken", "core", "missing", "1", everywhere],
] as const)
  await hub.create(helmOps, {
    metadata: { namespace, name, labels: { team } },
    spec: { helm: { repo: charts.url, chart: chartName, version }, targets },
  });
for (const [name, count] of [
  ["old", 2],
  ["new", 2],
  ["api", 1],
] as const)
  await waitForObject(
    hub,
    helmOps,
    { namespace, name },
    "ready",
    ({ status }) => status?.readyClusters === count,
  );
// One that never connects.
await hub.create(clusters, { metadata: { namespace, name: "nantes" }, spec: {} });

/** Waits until the list has exactly these rows, in this order. */
async function waitForNames(page: Page, names: readonly string[]): Promise<void> {
  const rows = page.locator(".table-body").getByRole("row");
  for (const [index, name] of names.entries())
    await rows
      .nth(index)
      .getByRole("link", { name: new RegExp(`^(HelmOp )?${name}$`) })
      .waitFor();
  await rows.nth(names.length).waitFor({ state: "detached" });
}

describe("a list", async () => {
  const { page, errors } = await openPage(browser);

  test("has the worst first, and is filtered by several states", async () => {
    await logIn(page, address, token);
    await page.getByRole("link", { name: "Apps", exact: true }).click();
    await waitForNames(page, ["broken", "api", "new", "old"]);

    await page.getByRole("button", { name: "Not accepted 1" }).click();
    await waitForNames(page, ["broken"]);
    await page.getByRole("button", { name: "Ready 3" }).click();
    await waitForNames(page, ["broken", "api", "new", "old"]);
    await page.getByRole("button", { name: "Not accepted 1" }).click();
    await waitForNames(page, ["api", "new", "old"]);
    assert.match(page.url(), /\?state=Ready$/);
  });

  test("can be navigated with the keyboard", async () => {
    await page.goto(`${address}/apps`);
    await waitForNames(page, ["broken", "api", "new", "old"]);
    for (const key of ["j", "j", "j", "k", "Enter"]) await page.keyboard.press(key);
    await page.getByRole("heading", { level: 1, name: "HelmOp api" }).waitFor();
    // After Back from the row that was opened, not from the first one.
    await page.goBack();
    await waitForNames(page, ["broken", "api", "new", "old"]);
    for (const [key, name] of [
      ["j", "HelmOp new"],
      ["k", "HelmOp api"],
      ["k", "HelmOp broken"],
    ] as const) {
      await page.keyboard.press(key);
      assert.equal(await page.locator(".table-body a:focus").textContent(), name);
    }

    await page.keyboard.press("g");
    await page.keyboard.press("c");
    await page.getByRole("heading", { level: 1, name: "Clusters" }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("lyon");
    await waitForNames(page, ["lyon"]);
    await page.keyboard.press("Control+k");
    await page.keyboard.type("broken");
    await page.getByRole("option", { name: /^broken/, selected: true }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "HelmOp broken" }).waitFor();
  });

  test("is one of what the palette finds, beside releases, labels and actions of the page", async () => {
    const choose = async (text: string, option: RegExp) => {
      await page.keyboard.press("Control+k");
      await page.keyboard.type(text);
      await page.getByRole("option", { name: option, selected: true }).waitFor();
      await page.keyboard.press("Enter");
    };
    await page.goto(`${address}/apps`);
    // The page answers keys once it is shown.
    await waitForNames(page, ["broken", "api", "new", "old"]);
    await choose("apps not accepted", /^Apps: Not accepted 1/);
    await waitForNames(page, ["broken"]);
    await choose("team=sales", /^Apps: team=sales 2/);
    await waitForNames(page, ["new", "old"]);

    await choose("new paris", /^new on paris/);
    await page.getByRole("heading", { level: 1, name: "new on paris" }).waitFor();
    await page.getByRole("button", { name: "Suspend" }).waitFor();
    // What is done here is done in the other cluster, too.
    await page.locator(".actions").getByText("Of HelmOp new, on 2 clusters:").waitFor();
    await choose("suspend", /^Suspend/);
    const panel = page.locator(".action-panel");
    await panel.getByText("flotilla suspend helmop new").waitFor();
    assert.match(page.url(), /\?action=suspend$/);
    await panel.getByRole("button", { name: "Cancel" }).click();
    await panel.waitFor({ state: "detached" });
    await page.keyboard.press("Control+k");
    await page.keyboard.type("new");
    await page.getByRole("option", { name: /^new/ }).first().waitFor();
    const headings = await page.locator("[cmdk-group-heading]").allTextContents();
    assert.deepEqual(headings, ["Apps"]);
  });

  test("is sorted by a column, versions by their numbers, in both directions", async () => {
    await page.goto(`${address}/apps?chart=shop`);
    await page.getByRole("button", { name: "Version" }).click();
    await waitForNames(page, ["old", "new"]);
    await page.getByRole("button", { name: "Version" }).click();
    await waitForNames(page, ["new", "old"]);
    await page.reload();
    await waitForNames(page, ["new", "old"]);
    const head = page.getByRole("columnheader", { name: "Version" });
    assert.equal(await head.getAttribute("aria-sort"), "descending");
  });

  test("is filtered by chart, cluster, label and text, alone and together", async () => {
    const cases: readonly (readonly [string, readonly string[]])[] = [
      ["/apps?chart=api", ["api"]],
      ["/apps?cluster=paris", ["new", "old"]],
      ["/apps?cluster=lyon&labels=team%3Dcore", ["api"]],
      ["/apps?labels=team%3Dsales&text=1.10", ["new"]],
      ["/clusters?chart=api", ["lyon"]],
      ["/clusters?labels=env", ["lyon", "paris"]],
      ["/clusters?state=WaitCheckIn", ["nantes"]],
    ];
    for (const [path, names] of cases) {
      await page.goto(`${address}${path}`);
      await waitForNames(page, names);
    }
    assert.deepEqual(errors, []);
  });

  test("says why it is empty, and what is wrong with a selector", async () => {
    const field = page.getByRole("searchbox", { name: "Label selector" });
    await page.goto(`${address}/apps?labels=${encodeURIComponent("team in (sales")}`);
    await page
      .getByRole("alert")
      .getByText("This is not a label selector: a parenthesis is not closed.")
      .waitFor();
    assert.equal(await field.getAttribute("aria-invalid"), "true");
    assert.equal(await page.getByText(/^Nothing /).count(), 0);
    await field.fill("team in (sales)");
    await waitForNames(page, ["new", "old"]);
    assert.equal(await page.getByRole("alert").count(), 0);

    await field.fill("team=none");
    await page.getByText("Nothing matches the filters.").waitFor();
    await page.getByRole("link", { name: "Sources" }).click();
    await page.getByText("Nothing is here yet, or nothing that you may list.").waitFor();
    await page.getByRole("link", { name: "Events" }).click();
    await page.getByRole("searchbox", { name: "Filter by text" }).fill("no such event");
    await page.getByText("Nothing matches the filters.").waitFor();
    await page.goto(`${address}/clusters/${namespace}/nantes`);
    await page.getByText("No target of an app matches it.").waitFor();
    assert.deepEqual(errors, []);
  });
});

test("tabs are one tab stop with arrow keys, and the chosen object is in the address", async (t) => {
  const { page, context, errors } = await openPage(browser);
  t.onTestFinished(() => context.close());
  await logIn(page, address, token);
  await page.goto(`${address}/clusters/${namespace}/paris/releases/HelmOp/${namespace}/new`);
  const tabs = page.getByRole("tablist", { name: "What to read from the cluster" });
  const resources = tabs.getByRole("tab", { name: "Resources" });
  const chosen = page.getByRole("complementary", { name: "ConfigMap new" });
  await page.getByRole("button", { name: "ConfigMap ready new" }).click();
  await chosen.waitFor();
  assert.match(decodeURIComponent(page.url()), /\?object=ConfigMap\/[\w-]+\/new$/);
  await page.reload();
  await chosen.waitFor();

  assert.equal(await tabs.locator('[role="tab"][tabindex="0"]').count(), 1);
  await resources.focus();
  for (const [key, name] of [
    ["ArrowRight", "Events"],
    ["End", "History"],
    ["ArrowRight", "Resources"],
    ["ArrowLeft", "History"],
  ] as const) {
    await page.keyboard.press(key);
    await tabs.locator(`[role="tab"]:focus`, { hasText: name }).waitFor();
    assert.equal(await resources.getAttribute("aria-selected"), "true");
  }
  await page.keyboard.press("Enter");
  await page.getByRole("tabpanel", { name: "History" }).waitFor();
  assert.match(page.url(), /tab=history/);
  assert.deepEqual(errors, []);
});

test("on a phone the pages are in two rows above, and each row of a list has its state and reason", async (t) => {
  const { page, context, errors } = await openPage(browser, { viewport: "phone" });
  t.onTestFinished(() => context.close());
  await logIn(page, address, token);
  await page.goto(`${address}/apps`);
  const row = page.getByRole("row").filter({ hasText: "broken" });
  await row.waitFor();

  const boxOf = async (locator: Locator) => (await locator.boundingBox()) ?? assert.fail();
  const { width } = viewports.phone;
  const header = await boxOf(page.getByRole("banner"));
  assert.ok(header.height <= 80, `the header is ${header.height} px high`);
  for (const link of await page
    .getByRole("navigation", { name: "Pages" })
    .getByRole("link")
    .all()) {
    const box = await boxOf(link);
    assert.ok(box.x >= 0 && box.x + box.width <= width, `${await link.textContent()} is cut`);
  }
  for (const text of ["Not accepted", "no chart named missing found"]) {
    const box = await boxOf(row.getByText(text).first());
    assert.ok(box.x >= 0 && box.x + box.width <= width, `${text} is outside`);
  }
  await page.goto(`${address}/clusters/fleet-default/paris`);
  const release = page.getByRole("row").filter({ hasText: "HelmOp old" });
  const version = await boxOf(release.getByText("1.9.0"));
  assert.ok(version.x + version.width <= width, "the version of a release is outside");
  await page.goto(`${address}/events`);
  const event = page.getByRole("row").filter({ hasText: "HelmOp broken" }).first();
  const message = await boxOf(event.getByText("no chart named missing found"));
  assert.ok(message.x + message.width <= width, "the message of an event is outside");
  await page.getByRole("button", { name: "User menu" }).click();
  await page.getByText("system:serviceaccount:dashboard-users:admin").waitFor();
  await page.getByText(/^Hub /).waitFor();
  assert.deepEqual(errors, []);
});

test("a page with a missing part reloads once, then says so", async (t) => {
  const { page, context } = await openPage(browser);
  t.onTestFinished(() => context.close());
  await logIn(page, address, token);
  // As after an upgrade of the hub: what the page wants is not there any more.
  const loaded = await page.evaluate<readonly string[]>(
    `performance.getEntriesByType("resource").map(({ name }) => name)`,
  );
  let missing = 0;
  const isPart = ({ href, pathname }: URL) => pathname.endsWith(".js") && !loaded.includes(href);
  await page.route(isPart, (route) => {
    missing += 1;
    return route.fulfill({ status: 404, body: "" });
  });
  const isLoadedAgain = page.waitForEvent("load");
  await page.getByRole("link", { name: "Apps", exact: true }).click();
  await isLoadedAgain;
  await page
    .getByRole("alert")
    .getByText(/could not be loaded from the hub/)
    .waitFor();
  assert.ok(missing >= 2, "it has tried again");
  await page.unroute(isPart);
  await page.getByRole("button", { name: "Reload" }).click();
  await waitForNames(page, ["broken", "api", "new", "old"]);
});
