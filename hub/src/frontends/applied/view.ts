/** How Bundles that were applied by hand are shown. Pure, of the caches. */
import type { Bundle } from "@flotilla/shared/api";
import {
  type AppView,
  appOfFleet,
  appRefOf,
  chartsOf,
  shownConditions,
  shownPolling,
  type Watched,
} from "../../rules/index.ts";

export function bundleView(informer: Watched<Bundle>): AppView<Bundle> {
  return {
    informer,
    isApp: (bundle) => appRefOf(bundle).kind === "Bundle",
    appOf: (bundle) => appOfFleet("Bundle", bundle, bundle.status?.resolution),
    detailsOf: ({ status }) => ({
      conditions: shownConditions(status?.conditions),
      charts: chartsOf(status?.pins),
      polling: shownPolling(undefined, status?.resolution, undefined),
    }),
  };
}
