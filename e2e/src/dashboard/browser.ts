/** Pages in a real browser, for tests. */
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll } from "vitest";
import { launchChromium } from "../harness/chromium.ts";
import { hangMs } from "../harness/hang.ts";

export const viewports = {
  desktop: { width: 1280, height: 720 },
  phone: { width: 390, height: 844 },
} as const;

/** One for a test file. */
export async function startBrowser(): Promise<Browser> {
  const browser = await launchChromium();
  afterAll(() => browser.close());
  return browser;
}

export interface OpenOptions {
  readonly theme?: "light" | "dark";
  readonly viewport?: keyof typeof viewports;
  /** As for somebody who has not asked for less. */
  readonly motion?: boolean;
}

export interface OpenedPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What the page has reported as errors: scripts that failed, and what its security policy has blocked. */
  readonly errors: readonly string[];
}

/** A page with cookies of its own. */
export async function openPage(browser: Browser, options: OpenOptions = {}): Promise<OpenedPage> {
  const { theme = "light", viewport = "desktop", motion = false } = options;
  const context = await browser.newContext({
    viewport: viewports[viewport],
    colorScheme: theme,
    reducedMotion: motion ? "no-preference" : "reduce",
  });
  context.setDefaultTimeout(hangMs);
  const page = await context.newPage();
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => {
    const isFailedRequest = message.text().startsWith("Failed to load resource");
    if (message.type() === "error" && !isFailedRequest) errors.push(message.text());
  });
  return { page, context, errors };
}

/** The elements in `selector` that are partly outside of the window, or whose own text is cut; and the page if it is wider. */
export function cutTexts(page: Page, selector: string): Promise<readonly string[]> {
  return page.evaluate<readonly string[]>(`[
    ...document.querySelectorAll(":root, :is(${selector}) *")
  ]
    .filter((element) => {
      const { left, right } = element.getBoundingClientRect();
      const isRoot = element === document.documentElement;
      const mayCut = isRoot || getComputedStyle(element).overflowX !== "visible";
      return left < 0 || right > document.documentElement.clientWidth ||
        (mayCut && element.scrollWidth > element.clientWidth);
    })
    .map(({ outerHTML }) => outerHTML.slice(0, 200))`);
}

/** For `page.evaluate`: ends after the page has drawn ages, such as those of its events, that many times. */
export function ticks(count: number): string {
  return `new Promise((resolve) => {
    let left = ${count};
    const observer = new MutationObserver(() => {
      left -= 1;
      if (left > 0) return;
      observer.disconnect();
      resolve();
    });
    observer.observe(document.body, { characterData: true, subtree: true });
  })`;
}
