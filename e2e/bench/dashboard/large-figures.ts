/** What a fleet with 5,000 clusters costs its viewers: the answer of the hub, and the frames of the page that shows it. */
import { get } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Browser, Page } from "playwright-core";
import { type Figure, median } from "../measure/figures.ts";
import { processorMs } from "../measure/processor.ts";
import type { BuiltPage } from "./built-page.ts";
import { firstLoadOf } from "./first-load.ts";
import { type Frames, type ScrollOptions, scrollFrames } from "./frames.ts";
import { type LargeFleet, startLargeFleet } from "./large-fleet.ts";
import { logIn, openContext, type ViewerSession } from "./session.ts";

const clusters = 5_000;
const apps = 50;
const answers = 15;
const answerBarMs = 100;
/** The hub keeps an answer for a second. */
const betweenAnswersMs = 1_050;
const rounds = 3;
const frameBarMs = 50;
const changesPerSecond = 50;
/** Until the garbage of the start is collected, and what a page has loaded is drawn. */
const settleMs = 2_000;

interface View extends ScrollOptions {
  readonly what: string;
  readonly path: string;
  /** Is there when the page is. */
  readonly shown: string;
}

const shown = ".overview-head h1";
const views: readonly View[] = [
  { what: "the overview with the map", path: "/?group=region", shown, stepPx: 60 },
  {
    ...{ what: "the picture of apps by clusters", path: "/?view=apps&group=region", shown },
    ...{ selector: ".matrix-scroll", stepPx: 24 },
  },
  {
    ...{ what: "the list of clusters", path: "/clusters", shown: "#list-title" },
    ...{ selector: ".table", stepPx: 620 },
  },
];

export async function largeFleetFigures(
  browser: Browser,
  built: BuiltPage,
): Promise<readonly Figure[]> {
  const fleet = await startLargeFleet({ pageDir: built.dir, clusters, apps });
  try {
    const session = await logIn(fleet.address, { token: "viewer" });
    return [
      await answerFigure(session, fleet),
      await firstLoadOf(browser, session),
      ...(await scrollFigures(browser, session, { fleet, built })),
    ];
  } finally {
    await fleet.close();
  }
}

async function answerFigure(
  { address, cookie }: ViewerSession,
  { pid }: LargeFleet,
): Promise<Figure> {
  const times: number[] = [];
  let bytes = 0;
  await sleep(settleMs);
  const cpuMs = await processorMs(pid);
  for (let round = 0; round < answers; round += 1) {
    await sleep(betweenAnswersMs);
    const begun = performance.now();
    bytes = await bytesOf(`${address}/api/v1/fleet`, cookie);
    times.push(performance.now() - begun);
  }
  const cpuEach = ((await processorMs(pid)) - cpuMs) / answers;
  return {
    what: "the hub answers with the fleet of 5,000 clusters and 50 HelmOps",
    unit: "ms",
    value: median(times),
    bar: answerBarMs,
    detail: `the first: ${times[0]?.toFixed(0)} ms, the longest: ${Math.max(...times).toFixed(0)} ms; the CPU of the hub for each, with its garbage: ${cpuEach.toFixed(0)} ms; ${Math.round(bytes / 1_000)} KB, compressed`,
  };
}

/** Until the last byte. */
function bytesOf(url: string, cookie: string): Promise<number> {
  return new Promise((resolve, reject) => {
    get(url, { headers: { cookie } }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${url}: HTTP ${response.statusCode}`));
      let bytes = 0;
      response.on("data", (chunk: Buffer) => (bytes += chunk.length));
      response.once("end", () => resolve(bytes));
    }).once("error", reject);
  });
}

async function scrollFigures(
  browser: Browser,
  session: ViewerSession,
  { fleet, built }: { readonly fleet: LargeFleet; readonly built: BuiltPage },
): Promise<readonly Figure[]> {
  const context = await openContext(browser, session);
  const page = await context.newPage();
  await page.goto(built.emptyPage);
  const empty = await scrollRounds(page, { stepPx: 620 });
  const baseline = { what: "an empty page of the same length", value: empty.longestMs };
  const figures: Figure[] = [];
  for (const view of views) {
    const { longestMs: value, detail } = await scrollView(page, session, view);
    figures.push({
      what: `the longest that the page works for a frame while ${view.what} is scrolled, with 5,000 clusters and 50 HelmOps`,
      ...{ unit: "ms", value, baseline, bar: frameBarMs },
      detail: `${detail}; of the empty page ${empty.detail}`,
    });
  }
  fleet.change({ perSecond: changesPerSecond });
  for (const view of views) {
    const { longestMs: value, detail } = await scrollView(page, session, view);
    figures.push({
      what: `the same of ${view.what} while ${changesPerSecond} releases change each second`,
      ...{ unit: "ms", value, baseline, detail },
    });
  }
  await context.close();
  return figures;
}

async function scrollView(
  page: Page,
  { address }: ViewerSession,
  { path, shown, ...options }: View,
): Promise<Scrolled> {
  await page.goto(`${address}${path}`);
  await page.locator(shown).waitFor();
  await sleep(settleMs);
  return await scrollRounds(page, options);
}

interface Scrolled {
  /** CPU time of the page for any frame of any round. */
  readonly longestMs: number;
  readonly detail: string;
}

async function scrollRounds(page: Page, options: ScrollOptions): Promise<Scrolled> {
  const all: Frames[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await page.locator(options.selector ?? "html").evaluate(scrollToTop);
    all.push(await scrollFrames(page, options));
  }
  const shown = all.map(({ durationsMs }) => Math.max(...durationsMs).toFixed(0));
  const frames = all.reduce((sum, { durationsMs }) => sum + durationsMs.length, 0);
  return {
    longestMs: all.reduce((longest, { taskMs }) => taskMs.reduce(larger, longest), 0),
    detail: `on the screen, with what else the machine did, the longest of each round: ${shown.join(", ")} ms; ${frames} frames`,
  };
}

function larger(one: number, other: number): number {
  return Math.max(one, other);
}

/** Runs in the page. */
function scrollToTop(element: unknown): void {
  (element as { scrollTop: number }).scrollTop = 0;
}
