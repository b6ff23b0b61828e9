/**
 * Every page, at a desk and on a phone, dark and light: accessible as axe checks it, without errors. With FLOTILLA_UPDATE=1 its
 * pictures become those of docs/.
 */
import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { localNamespace, workspaceNamespace as namespace } from "@flotilla/shared/api/names";
import axe from "axe-core";
import type { Page } from "playwright-core";
import { describe, test } from "vitest";
import { openPage, startBrowser } from "./browser.ts";
import { logIn } from "./dashboard-fleet.ts";
import { shown, startPagesFleet } from "./pages-fleet.ts";

const dashboard = await startPagesFleet();
const { address } = dashboard;
const browser = await startBrowser();
const admin = await dashboard.adminToken();
const stranger = await dashboard.readerToken(localNamespace);

const root = fileURLToPath(new URL("../../..", import.meta.url));
for (const dir of ["docs/images", "build/screenshots"])
  await mkdir(join(root, dir), { recursive: true });

const app = `/apps/HelmOp/${namespace}/shop`;
const staged = `/apps/HelmOp/${namespace}/ledger`;
const release = `/clusters/${namespace}/lyon/releases/HelmOp/${namespace}/shop`;
const withPod = `/clusters/${namespace}/lyon/releases/HelmRelease/${namespace}/checkout`;
const pages = [
  ["overview", "/", "needs attention"],
  ["apps", "/apps", "Apps"],
  ["clusters", "/clusters?state=Ready", "Clusters"],
  ["sources", "/sources", "Sources"],
  ["events", "/events", "Events"],
  ["app", app, "HelmOp shop"],
  ["cluster", `/clusters/${namespace}/lyon`, "Cluster lyon"],
  ["release", release, "shop on lyon"],
  ["source", `/sources/HelmRepository/${namespace}/charts`, "HelmRepository charts"],
] as const;

type Part = readonly [
  name: string,
  path: string,
  title: string,
  /** What is done on the page before it is checked. */
  act?: (page: Page) => Promise<unknown>,
];
const reads = (text: string) => (page: Page) => page.getByText(text).first().waitFor();
/** What pages show in other cases, or not at first; without pictures in docs/. */
const parts: readonly Part[] = [
  ["apps by clusters", "/?view=apps&group=env", "needs attention"],
  ["command palette", "/", "needs attention", openPalette],
  ["user menu", "/apps", "Apps", openUserMenu],
  ["effective values", `${app}?values=${namespace}/lyon`, "HelmOp shop"],
  ["action panel", app, "HelmOp shop", openAction],
  ["stages", staged, "HelmOp ledger", reads("waits for the approval change-board")],
  ["decision", staged, "HelmOp ledger", openApproval],
  ["windows", `/clusters/${namespace}/paris`, "Cluster paris", reads("0 0 22 ? * MON-FRI")],
  ["HelmRelease", `/apps/HelmRelease/${namespace}/checkout`, "HelmRelease checkout"],
  ["Bundle", `/apps/Bundle/${namespace}/tools`, "Bundle tools"],
  ["values", `${release}?tab=values`, "shop on lyon"],
  ["history", `${release}?tab=history`, "shop on lyon"],
  ["logs", `${withPod}?tab=log`, "checkout on lyon", reads(shown.log)],
  ["events of a release", `${withPod}?tab=events`, "checkout on lyon", reads(shown.event)],
  ["diff", `${withPod}?tab=diff`, "checkout on lyon", reads(shown.diff)],
];

async function openPalette(page: Page): Promise<void> {
  await page.keyboard.press("Control+k");
  await page.getByRole("option", { name: "shop" }).waitFor();
}

async function openUserMenu(page: Page): Promise<void> {
  await page.getByRole("button", { name: "User menu" }).click();
  await page.getByRole("button", { name: "Log out" }).waitFor();
}

async function openAction(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Suspend" }).click();
  await page.locator(".action-panel").waitFor();
}

async function openApproval(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Approve" }).click();
  await page.locator(".action-panel").waitFor();
}

const themes = ["light", "dark"] as const;
type Theme = (typeof themes)[number];

for (const viewport of ["desktop", "phone"] as const)
  describe(`on a ${viewport}`, async () => {
    const { page, context, errors } = await openPage(browser, { viewport });

    async function loaded(title: string): Promise<void> {
      await page.getByRole("heading", { level: 1, name: new RegExp(title) }).waitFor();
      await page.locator('[aria-busy="true"]').first().waitFor({ state: "detached" });
      await page.getByText("Loading …").first().waitFor({ state: "detached" });
    }

    /** In both themes; `name`: of its pictures, absent: it has none. */
    async function check(name?: string): Promise<void> {
      for (const theme of themes) {
        await page.evaluate(`document.documentElement.dataset.theme = "${theme}"`);
        if (name !== undefined) await picture(page, name, theme, viewport);
        await assertAccessible(page, theme);
      }
      await page.evaluate(`document.documentElement.dataset.theme = "light"`);
      if (viewport === "phone") assert.deepEqual(await wideTables(page), []);
      assert.deepEqual(errors, []);
    }

    test("the login is accessible", async (t) => {
      t.onTestFailed(() => context.close());
      await page.goto(address);
      await page.getByLabel("Token").waitFor();
      await check("login");
      await logIn(page, address, admin);
    });

    for (const [name, path, title] of pages)
      test(`the page ${name} is accessible, and nothing of it moves while it is loading`, async () => {
        await page.goto(`${address}${path}`);
        await loaded(title);
        const shift = await layoutShift(page);
        assert.ok(shift < 0.05, `what is shown moved by ${shift}`);
        await check(name);
      });

    for (const [name, path, title, act] of parts)
      test(`the part ${name} is accessible`, async () => {
        // As by a link: to load the whole page again costs more than to check it.
        await page.evaluate(`history.pushState(null, "", ${JSON.stringify(path)})`);
        await loaded(title);
        await act?.(page);
        await check();
        // What was opened above the page would be above the next one.
        await page.keyboard.press("Escape");
      });

    test("the page of what the user may not see is accessible", async () => {
      await context.clearCookies();
      await logIn(page, address, stranger);
      await page.goto(`${address}${app}`);
      await loaded("You may not see this");
      await check();
      await page.getByRole("link", { name: "Sources" }).click();
      await page.getByText("Nothing is here yet, or nothing that you may list.").waitFor();
    });
  });

test("a page has the theme that the system has, as long as none is chosen", async (t) => {
  const { page, context } = await openPage(browser, { theme: "dark" });
  t.onTestFinished(() => context.close());
  await logIn(page, address, admin);
  const theme = () => page.locator("html").getAttribute("data-theme");
  assert.equal(await theme(), "dark");
  await page.getByRole("button", { name: "User menu" }).click();
  await page.getByRole("button", { name: "Light theme" }).click();
  await page.reload();
  await page.getByRole("heading", { level: 1 }).waitFor();
  assert.equal(await theme(), "light");
});

/** Those at a desk are the ones of docs/. */
async function picture(page: Page, name: string, theme: Theme, viewport: string): Promise<void> {
  const isForDocs = process.env["FLOTILLA_UPDATE"] === "1" && viewport === "desktop";
  const path = isForDocs
    ? join(root, "docs/images", `dashboard-${name}-${theme}.png`)
    : join(root, "build/screenshots", `${name}-${theme}-${viewport}.png`);
  await page.screenshot({ path });
}

/** What axe checks; the dark theme has other colours, and nothing else of its own. */
const rules: Readonly<Record<Theme, object>> = {
  light: {
    type: "tag",
    values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
  },
  dark: { type: "rule", values: ["color-contrast", "link-in-text-block"] },
};

/** As axe checks it, with no text below 12 px, and not wider than the window. */
async function assertAccessible(page: Page, theme: Theme): Promise<void> {
  // Evaluated by the debugger, which the page's security policy does not concern. Once in each document.
  if (await page.evaluate<boolean>("globalThis.axe === undefined")) await page.evaluate(axe.source);
  const violations = await page.evaluate<readonly string[]>(
    `axe.run({ runOnly: ${JSON.stringify(rules[theme])} }).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join(" | ")))`,
  );
  assert.deepEqual(violations, []);
  assert.deepEqual(await smallTexts(page), []);
  const overflow = await page.evaluate<number>(
    "document.documentElement.scrollWidth - window.innerWidth",
  );
  assert.ok(overflow <= 0, `the page is ${overflow} px wider than the window`);
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

/** Tables with rows that are wider than what is seen of them, and what in lists of events is. */
function wideTables(page: Page): Promise<readonly string[]> {
  return page.evaluate<
    readonly string[]
  >(`[...document.querySelectorAll("[role=table], .conditions, .condition")]
    .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
    .map(({ outerHTML }) => outerHTML.slice(0, 100))`);
}

/** The elements with text that is smaller than 12 px. */
function smallTexts(page: Page): Promise<readonly string[]> {
  return page.evaluate<readonly string[]>(`[...document.querySelectorAll("body *")]
    .filter(({ childNodes }) =>
      [...childNodes].some(({ nodeType, textContent }) => nodeType === 3 && textContent.trim() !== ""))
    .filter((element) => Number.parseFloat(getComputedStyle(element).fontSize) < 12)
    .map(({ outerHTML }) => outerHTML.slice(0, 100))`);
}
