/**
 * A real browser for the pages of the hub: Debian's Chromium, as the program without windows, which takes 40 % of the processor time
 * of the other one.
 */
import { type Browser, chromium } from "playwright-core";

/** Nothing of it reaches another host. */
const flags = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: "/usr/bin/chromium-headless-shell", args: flags });
}
