/** The first load of the page in a browser that has nothing of it: until the headline is painted, and what is transferred. */
import type { Browser } from "playwright-core";
import { type BenchFleet, oneCluster } from "../measure/bench-fleet.ts";
import { type Figure, median } from "../measure/figures.ts";
import { type BuiltPage, transferredBytes } from "./built-page.ts";
import { logInAsAdmin, openContext, type ViewerSession } from "./session.ts";

const loads = 5;
const barMs = 1_000;
const barBytes = 300_000;

interface Load {
  /** From the start of the navigation. */
  readonly paintedMs: number;
  /** Scripts and styles, compressed, with their headers. */
  readonly bytes: number;
  readonly files: number;
}

export async function firstLoad(
  bench: BenchFleet,
  browser: Browser,
  built: BuiltPage,
): Promise<readonly Figure[]> {
  await bench.createHelmOp("first-load", "config", oneCluster);
  await bench.ready("first-load");
  const begun = performance.now();
  const session = await logInAsAdmin(bench);
  const loginMs = performance.now() - begun;
  const bare = await loadRepeatedly(browser, { ...session, address: built.emptyPage }, "h1");
  const own = await loadRepeatedly(browser, session, headline);
  const [{ bytes, files } = { bytes: Number.NaN, files: 0 }] = own;
  return [
    {
      what: "first load of the page from the local hub, until the headline is painted",
      unit: "ms",
      value: median(own.map(({ paintedMs }) => paintedMs)),
      baseline: {
        what: "a page with a heading alone",
        value: median(bare.map(({ paintedMs }) => paintedMs)),
      },
      bar: barMs,
      detail: `${timesText(own)}; the first login, for which the hub loads the dashboard, took ${loginMs.toFixed(0)} ms`,
    },
    {
      what: "scripts and styles of the first load, compressed",
      unit: "bytes",
      value: bytes,
      bar: barBytes,
      detail: `${files} files`,
    },
    {
      what: "all scripts and styles of the page, compressed",
      unit: "bytes",
      value: await transferredBytes(session.address, built),
      bar: barBytes,
    },
  ];
}

/** The headline of the overview. */
const headline = ".overview-head h1";

/** Without a bar: of a fleet that is much larger. */
export async function firstLoadOf(browser: Browser, session: ViewerSession): Promise<Figure> {
  const all = await loadRepeatedly(browser, session, headline);
  return {
    what: "first load of the page with 5,000 clusters and 50 HelmOps",
    unit: "ms",
    value: median(all.map(({ paintedMs }) => paintedMs)),
    detail: timesText(all),
  };
}

function timesText(all: readonly Load[]): string {
  return `${all.map(({ paintedMs }) => paintedMs.toFixed(0)).join(", ")} ms`;
}

/** Each time with an empty cache. */
async function loadRepeatedly(
  browser: Browser,
  session: ViewerSession,
  selector: string,
): Promise<readonly Load[]> {
  const all: Load[] = [];
  for (let round = 0; round < loads; round += 1) {
    const context = await openContext(browser, session);
    const page = await context.newPage();
    await page.addInitScript(observePaint, selector);
    await page.goto(session.address);
    await page.waitForFunction(hasPainted);
    all.push(await page.evaluate(loaded));
    await context.close();
  }
  return all;
}

/** What is used of the page. */
interface PageGlobal {
  requestAnimationFrame(callback: () => void): number;
  readonly document: { querySelector(selector: string): unknown };
  readonly performance: {
    now(): number;
    getEntriesByType(type: "resource"): readonly {
      readonly name: string;
      readonly transferSize: number;
    }[];
  };
  readonly MessageChannel: typeof MessageChannel;
  paintedMs?: number;
}

/** Runs in the page, as those that follow. */
function observePaint(selector: string): void {
  const page = globalThis as unknown as PageGlobal;
  function next(): void {
    if (page.document.querySelector(selector) === null) {
      page.requestAnimationFrame(next);
      return;
    }
    // It is drawn after this callback; a message is handled when that is done.
    const { port1, port2 } = new page.MessageChannel();
    port1.addEventListener("message", () => {
      page.paintedMs = page.performance.now();
    });
    port1.start();
    port2.postMessage(undefined);
  }
  page.requestAnimationFrame(next);
}

function hasPainted(): boolean {
  return (globalThis as unknown as PageGlobal).paintedMs !== undefined;
}

function loaded(): Load {
  const { performance, paintedMs = Number.NaN } = globalThis as unknown as PageGlobal;
  const files = performance
    .getEntriesByType("resource")
    .filter(({ name }) => /\.(js|css)$/.test(name));
  const bytes = files.reduce((sum, { transferSize }) => sum + transferSize, 0);
  return { paintedMs, bytes, files: files.length };
}
