/**
 * Every page, dark and light, at a desk and on a phone: accessible as axe checks it, without errors. With FLOTILLA_UPDATE=1 its
 * pictures become those of docs/.
 */
import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { helmOps } from "@flotilla/shared/api";
import { workspaceNamespace as namespace } from "@flotilla/shared/api/names";
import axe from "axe-core";
import type { Page } from "playwright-core";
import { describe, test } from "vitest";
import { waitForObject } from "../harness/wait.ts";
import { openPage, startBrowser } from "./browser.ts";
import { logIn, startDashboardFleet, versionedChart } from "./dashboard-fleet.ts";

const dashboard = await startDashboardFleet({
  clusters: [{ env: "test" }, { env: "prod" }, { env: "prod" }],
  names: ["paris", "lyon", "nantes"],
});
const { fleet, charts, address } = dashboard;
const browser = await startBrowser();
const token = await dashboard.adminToken();
charts.publish(await versionedChart("shop", "1.4.2"));
const helm = { repo: charts.url, chart: "shop", version: "~1.4" };
for (const [name, spec] of [
  ["shop", { helm, pollingInterval: "5m", targets: [{ name: "all", clusterSelector: {} }] }],
  ["cart", { helm, targets: [{ clusterSelector: { matchLabels: { env: "prod" } } }] }],
  ["search", { helm: { ...helm, version: "^9" }, targets: [{ clusterSelector: {} }] }],
] as const)
  await fleet.hub.create(helmOps, { metadata: { namespace, name }, spec });
await waitForObject(
  fleet.hub,
  helmOps,
  { namespace, name: "shop" },
  "ready",
  ({ status }) => status?.readyClusters === 3,
);

const root = fileURLToPath(new URL("../../..", import.meta.url));
for (const dir of ["docs/images", "build/screenshots"])
  await mkdir(join(root, dir), { recursive: true });

const release = `/clusters/${namespace}/lyon/releases/HelmOp/${namespace}/shop`;
const pages = [
  ["overview", "/", "needs attention"],
  ["apps", "/apps", "Apps"],
  ["clusters", "/clusters?state=Ready", "Clusters"],
  ["sources", "/sources", "Sources"],
  ["events", "/events", "Events"],
  ["app", `/apps/HelmOp/${namespace}/shop`, "HelmOp shop"],
  ["cluster", `/clusters/${namespace}/lyon`, "Cluster lyon"],
  ["release", release, "shop on lyon"],
] as const;
/** Parts of pages that are not shown at first; without pictures in docs/. */
const parts = [
  ["apps by clusters", "/?view=apps&group=env", "needs attention"],
  ["effective values", `/apps/HelmOp/${namespace}/shop?values=${namespace}/lyon`, "HelmOp shop"],
  ["values", `${release}?tab=values`, "shop on lyon"],
  ["history", `${release}?tab=history`, "shop on lyon"],
] as const;

for (const theme of ["light", "dark"] as const)
  for (const viewport of ["desktop", "phone"] as const)
    describe(`in ${theme} on a ${viewport}`, async () => {
      const { page, context, errors } = await openPage(browser, { theme, viewport });

      test("the login is accessible", async (t) => {
        t.onTestFailed(() => context.close());
        await page.goto(address);
        await page.getByLabel("Token").waitFor();
        await assertAccessible(page);
        await picture(page, "login", theme, viewport);
        await logIn(page, address, token);
      });

      async function open(path: string, title: string): Promise<void> {
        await page.goto(`${address}${path}`);
        await page.getByRole("heading", { level: 1, name: new RegExp(title) }).waitFor();
        await page.locator('[aria-busy="true"]').first().waitFor({ state: "detached" });
        await page.getByText("Reading …").first().waitFor({ state: "detached" });
      }

      for (const [name, path, title] of [...pages, ...parts])
        test(`the page ${name} is accessible, and no text is smaller than 12 px`, async () => {
          await open(path, title);
          await assertAccessible(page);
          assert.deepEqual(await smallTexts(page), []);
          const overflow = await page.evaluate<number>(
            "document.documentElement.scrollWidth - window.innerWidth",
          );
          assert.ok(overflow <= 0, `the page is ${overflow} px wider than the window`);
          assert.deepEqual(errors, []);
        });

      for (const [name, path, title] of pages)
        test(`nothing of the page ${name} moves while it is loading`, async () => {
          await open(path, title);
          const shift = await layoutShift(page);
          assert.ok(shift < 0.05, `what is shown moved by ${shift}`);
          await picture(page, name, theme, viewport);
        });
    });

/** Those at a desk are the ones of docs/. */
async function picture(page: Page, name: string, theme: string, viewport: string): Promise<void> {
  const isForDocs = process.env["FLOTILLA_UPDATE"] === "1" && viewport === "desktop";
  const path = isForDocs
    ? join(root, "docs/images", `dashboard-${name}-${theme}.png`)
    : join(root, "build/screenshots", `${name}-${theme}-${viewport}.png`);
  await page.screenshot({ path });
}

async function assertAccessible(page: Page): Promise<void> {
  // Evaluated by the debugger, which the page's security policy does not concern.
  await page.evaluate(axe.source);
  const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
  const violations = await page.evaluate<readonly string[]>(
    `axe.run({ runOnly: { type: "tag", values: ${JSON.stringify(tags)} } }).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join(" | ")))`,
  );
  assert.deepEqual(violations, []);
}

/** The cumulative layout shift of the page; up to 0.1 counts as good. */
function layoutShift(page: Page): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve) => {
    new PerformanceObserver((list) =>
      resolve(list.getEntries().reduce((sum, { value }) => sum + value, 0)),
    ).observe({ type: "layout-shift", buffered: true });
    setTimeout(() => resolve(0), 300);
  })`);
}

/** The elements with text that is smaller than 12 px. */
function smallTexts(page: Page): Promise<readonly string[]> {
  return page.evaluate<readonly string[]>(`[...document.querySelectorAll("body *")]
    .filter(({ childNodes }) =>
      [...childNodes].some(({ nodeType, textContent }) => nodeType === 3 && textContent.trim() !== ""))
    .filter((element) => Number.parseFloat(getComputedStyle(element).fontSize) < 12)
    .map(({ outerHTML }) => outerHTML.slice(0, 100))`);
}
