/** The overview in a real browser: from the login to what is wrong, and live. */
import assert from "node:assert/strict";
import { helmOps } from "@flotilla/shared/api";
import { workspaceNamespace } from "@flotilla/shared/api/names";
import { describe, test } from "vitest";
import { openPage, startBrowser } from "./browser.ts";
import { logIn, startDashboardFleet, versionedChart } from "./dashboard-fleet.ts";

const dashboard = await startDashboardFleet({
  clusters: [{ env: "test" }, { env: "prod" }],
  names: ["paris", "lyon"],
});
const { fleet, charts, address } = dashboard;
const { hub } = fleet;
const browser = await startBrowser();
const admin = await dashboard.adminToken();

const chart = (version: string) => versionedChart("web", version);
charts.publish(await chart("1.0.0"), await chart("1.1.0"));
const everywhere = [{ clusterSelector: {} }];

describe("the dashboard", () => {
  test("shows nothing without a login, and says why a login failed", async (t) => {
    const { page, context, errors } = await openPage(browser);
    t.onTestFinished(() => context.close());

    for (const path of ["/api/v1/fleet", "/api/v1/changes", "/api/v1/session"]) {
      const answer = await fetch(`${address}${path}`);
      assert.equal(answer.status, 401);
      assert.equal(((await answer.json()) as { code: string }).code, "SESSION_REQUIRED");
    }
    await page.goto(address);
    await page.getByLabel("Token").fill("not-a-token");
    await page.getByRole("button", { name: "Log in" }).click();
    const alert = page.getByRole("alert");
    await alert.waitFor();
    assert.match((await alert.textContent()) ?? "", /does not accept this token/);
    assert.deepEqual(errors, []);
  });

  test("says that all is well, then what is wrong, where, and what to do, without a reload", async (t) => {
    const { page, context, errors } = await openPage(browser);
    t.onTestFinished(() => context.close());
    await logIn(page, address, admin);
    const headline = page.getByRole("heading", { level: 1 });

    await hub.create(helmOps, {
      metadata: { namespace: workspaceNamespace, name: "web" },
      spec: { helm: { repo: charts.url, chart: "web", version: "1.0.0" }, targets: everywhere },
    });
    await page.getByText("All is well: 1 app on 2 clusters, all ready").waitFor();
    await hub.create(helmOps, {
      metadata: { namespace: workspaceNamespace, name: "broken" },
      spec: { helm: { repo: charts.url, chart: "missing", version: "1" }, targets: everywhere },
    });
    await page.getByText("1 thing needs attention").waitFor();

    assert.match((await headline.textContent()) ?? "", /of 2 apps on 2 clusters/);
    const concern = page.getByRole("listitem").filter({ hasText: "HelmOp broken" });
    const text = (await concern.first().textContent()) ?? "";
    assert.match(text, /Not accepted.*HelmOp broken.*in fleet-default.*since/s);
    assert.match(text, /no chart named missing found.*What to do:/s);
    await hub.delete(helmOps, { namespace: workspaceNamespace, name: "broken" });
    await page.getByText("All is well: 1 app on 2 clusters, all ready").waitFor();
    assert.deepEqual(errors, []);
  });

  test("follows an upgrade over two clusters", async (t) => {
    const { page, context } = await openPage(browser);
    t.onTestFinished(() => context.close());
    await logIn(page, address, admin);
    await page.getByText("GotNewChartVersion").first().waitFor();

    await hub.patch(
      helmOps,
      { namespace: workspaceNamespace, name: "web" },
      { type: "merge", body: { spec: { helm: { version: "1.1.0" } } } },
    );

    const upgraded = page.getByRole("listitem").filter({ hasText: "UpgradeSucceeded" });
    await upgraded.first().waitFor();
    assert.match((await upgraded.first().textContent()) ?? "", /HelmOp web/);
  });

  test("says that it shows old data while the hub is gone, and catches up when it is back", async (t) => {
    const { page, context } = await openPage(browser);
    t.onTestFinished(() => context.close());
    await logIn(page, address, admin);
    await page.getByRole("status").getByText("Live").waitFor();

    await fleet.stopHub();
    await page.getByText(/Reconnecting; data as of/).waitFor();
    // A page whose part cannot be loaded now says so, and what was loaded is still there.
    await page.getByRole("link", { name: "Sources" }).click();
    await page
      .getByRole("alert")
      .getByText(/could not be loaded from the hub/)
      .waitFor();
    await page.getByRole("link", { name: "Overview" }).click();
    await page.getByText("All is well: 1 app on 2 clusters, all ready").waitFor();
    await hub.create(helmOps, {
      metadata: { namespace: workspaceNamespace, name: "meanwhile" },
      spec: { helm: { repo: charts.url, chart: "web", version: "1.0.0" }, targets: everywhere },
    });
    await fleet.startHub();

    await page.getByRole("status").getByText("Live").waitFor();
    await page.getByText("All is well: 2 apps on 2 clusters, all ready").waitFor();
    await hub.delete(helmOps, { namespace: workspaceNamespace, name: "meanwhile" });
  });
});
