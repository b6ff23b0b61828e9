/** Links that log in once, as `flotilla dashboard` prints them. */
import assert from "node:assert/strict";
import { createLoginLink } from "@flotilla/cli/fleet";
import type { Page } from "playwright-core";
import { type TestContext, test } from "vitest";
import { openPage, startBrowser } from "./browser.ts";
import { startDashboardFleet } from "./dashboard-fleet.ts";

const { fleet, address } = await startDashboardFleet({ clusters: [] });
const browser = await startBrowser();

/** Without a session. */
async function open(t: TestContext, url: string): Promise<Page> {
  const { page, context } = await openPage(browser);
  t.onTestFinished(() => context.close());
  await page.goto(url);
  return page;
}

const navigation = (page: Page) => page.getByRole("navigation", { name: "Pages" });
const wasUsed = (page: Page) =>
  page.getByRole("alert").getByText(/^this login link is invalid or was already used/);

test("a login link logs in once, and its code does not stay in the address", async (t) => {
  const link = await createLoginLink(fleet.hub, address);

  const first = await open(t, link);
  await navigation(first).waitFor();
  assert.equal(first.url(), `${address}/`);

  const second = await open(t, link);
  await wasUsed(second).waitFor();
  assert.equal(await second.getByLabel("Token").count(), 1);
  assert.equal(second.url(), `${address}/`);
});

test("a login link that is pasted into a tab with the login page logs in there, or says that it was used", async (t) => {
  const [used, fresh] = [
    await createLoginLink(fleet.hub, address),
    await createLoginLink(fleet.hub, address),
  ];
  await navigation(await open(t, used)).waitFor();
  const page = await open(t, address);
  await page.getByLabel("Token").waitFor();
  // Only the fragment differs: the page is not loaded again.
  const paste = (link: string) =>
    page.evaluate(`location.hash = ${JSON.stringify(new URL(link).hash)}`);

  await paste(used);
  await wasUsed(page).waitFor();
  await paste(fresh);

  await navigation(page).waitFor();
  assert.equal(page.url(), `${address}/`);
});
