/** What the dashboard costs: its first load, the page of a large fleet, and many viewers of a fleet that is never at rest. */
import { ensureDebianPrograms } from "@flotilla/local/binaries";
import { launchChromium } from "../../src/harness/chromium.ts";
import type { BenchFleet } from "../measure/bench-fleet.ts";
import type { Figure } from "../measure/figures.ts";
import { buildBenchPage } from "./built-page.ts";
import { firstLoad } from "./first-load.ts";
import { largeFleetFigures } from "./large-figures.ts";
import { viewersFigures } from "./viewers-figures.ts";

export async function dashboard(bench: BenchFleet): Promise<readonly Figure[]> {
  await ensureDebianPrograms({ write: (text) => process.stderr.write(text) });
  const built = await buildBenchPage();
  const browser = await launchChromium();
  try {
    const loaded = await firstLoad(bench, browser, built);
    const large = await largeFleetFigures(browser, built);
    return [...loaded, ...large, ...(await viewersFigures(bench))];
  } finally {
    await browser.close();
    await built.close();
  }
}
