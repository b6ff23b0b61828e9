/**
 * The frames of a page while it is scrolled from its top to its bottom with the wheel: how long they were on the screen, and what
 * the page worked for them. On a machine that has other work, only the second says something about the page.
 */
import type { Page } from "playwright-core";

export interface Frames {
  /** From one frame to the next, ms. */
  readonly durationsMs: readonly number[];
  /** CPU time of each task of the page's main thread. A frame is one task: events, scripts, styles, layout and paint. */
  readonly taskMs: readonly number[];
}

export interface ScrollOptions {
  /** What is scrolled; default: the page. */
  readonly selector?: string;
  /** The way of each event of the wheel, in pixels; one is sent as soon as the page has handled the one before. */
  readonly stepPx: number;
}

const maxEvents = 2_000;
/** Where the pointer is, from the corner of what is scrolled. */
const inset = { x: 400, y: 100 };

export async function scrollFrames(
  page: Page,
  { selector = "html", stepPx }: ScrollOptions,
): Promise<Frames> {
  const browser = page.context().browser();
  if (browser === null) throw new Error("a page without its browser cannot be traced");
  const target = page.locator(selector);
  // The wheel scrolls what is under the pointer.
  if (selector !== "html") await target.scrollIntoViewIfNeeded();
  const box = selector === "html" ? { x: 0, y: 0 } : await target.boundingBox();
  if (box === null) throw new Error(`nothing is shown at ${selector}`);
  await page.mouse.move(box.x + inset.x, box.y + inset.y);
  await browser.startTracing(page, { categories: ["toplevel", "devtools.timeline"] });
  await page.evaluate(record);
  for (let events = 0; !(await target.evaluate(isAtEnd)); events += 1) {
    if (events === maxEvents) throw new Error(`${selector} does not scroll to its end`);
    await page.mouse.wheel(0, stepPx);
  }
  const durationsMs = await page.evaluate(recorded);
  const trace: Trace = JSON.parse((await browser.stopTracing()).toString());
  return { durationsMs, taskMs: tasksOf(trace) };
}

/** What is used of a trace of Chromium. */
interface Trace {
  readonly traceEvents: readonly {
    readonly name: string;
    readonly pid: number;
    readonly tid: number;
    /** µs. */
    readonly dur?: number;
    /** CPU time, µs. */
    readonly tdur?: number;
  }[];
}

const frame = "FireAnimationFrame";
const task = "ThreadControllerImpl::RunTask";

function tasksOf({ traceEvents }: Trace): readonly number[] {
  const frames = Map.groupBy(
    traceEvents.filter(({ name }) => name === frame),
    ({ pid, tid }) => `${pid} ${tid}`,
  );
  // The page has drawn most frames: the browser itself consists of pages, too.
  const [own] = [...frames].sort(([, one], [, other]) => other.length - one.length);
  return traceEvents.flatMap(({ name, pid, tid, dur = 0, tdur }) =>
    name === task && `${pid} ${tid}` === own?.[0] && tdur !== undefined
      ? // On a virtual machine that has much to do the clock of a thread jumps at times: no task can use more than it took.
        [Math.min(dur, tdur) / 1_000]
      : [],
  );
}

/** What is used of the page: its own types would replace those of Node in all tests. */
interface PageGlobal {
  requestAnimationFrame(callback: (atMs: number) => void): number;
  cancelAnimationFrame(request: number): void;
  endRecording?: () => readonly number[];
}

interface ScrolledElement {
  readonly scrollTop: number;
  readonly clientHeight: number;
  readonly scrollHeight: number;
}

/** Runs in the page, as those that follow. */
function record(): void {
  const page = globalThis as unknown as PageGlobal;
  const durations: number[] = [];
  let before: number | undefined;
  function next(atMs: number): void {
    if (before !== undefined) durations.push(atMs - before);
    before = atMs;
    request = page.requestAnimationFrame(next);
  }
  let request = page.requestAnimationFrame(next);
  page.endRecording = () => {
    page.cancelAnimationFrame(request);
    return durations;
  };
}

function recorded(): readonly number[] {
  return (globalThis as unknown as PageGlobal).endRecording?.() ?? [];
}

function isAtEnd(element: unknown): boolean {
  const { scrollTop, clientHeight, scrollHeight } = element as ScrolledElement;
  return scrollTop + clientHeight >= scrollHeight - 1;
}
