/** The charts of an app, as the dashboard shows them. Pure. */
import type { ChartPin } from "@flotilla/shared/api";
import type { AppDetail } from "@flotilla/shared/dashboard";
import { archiveDigest, pinAddress, pinnedVersion } from "@flotilla/shared/source";

type Chart = AppDetail["charts"][number];

/** `desired`: what is shown before it is resolved. */
export function chartsOf(pins: readonly ChartPin[] = [], desired?: Chart): Chart[] {
  if (pins.length > 0) return pins.map(chartOf);
  return desired === undefined ? [] : [desired];
}

function chartOf({ repo, chart, version, pin, note }: ChartPin): Chart {
  const digest = archiveDigest(pin);
  const resolved = pinnedVersion(pin);
  return {
    repo,
    chart,
    constraint: version,
    ...(resolved !== "" && { version: resolved }),
    url: pinAddress(pin),
    ...(digest !== undefined && { digest }),
    ...(note && { note }),
  };
}
