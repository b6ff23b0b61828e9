/** How HelmOps are shown. Pure, of the caches. */
import type { HelmOp } from "@flotilla/shared/api";
import {
  type AppView,
  appOfFleet,
  chartsOf,
  pollingIntervalMs,
  releaseOfHelmOp,
  shownConditions,
  shownPolling,
  type Watched,
} from "../../rules/index.ts";

export function helmOpView(informer: Watched<HelmOp>): AppView<HelmOp> {
  const isPolled = (helmOp: HelmOp) => pollingIntervalMs(releaseOfHelmOp(helmOp)) !== undefined;
  return {
    informer,
    appOf(helmOp) {
      const { helmSecretName: secret } = helmOp.spec;
      return {
        ...appOfFleet("HelmOp", helmOp, helmOp.status?.polling),
        ...(secret && { secret }),
      };
    },
    detailsOf(helmOp) {
      const { pins, polling, lastPollingTriggered, conditions } = helmOp.status ?? {};
      const interval = isPolled(helmOp) ? (helmOp.spec.pollingInterval ?? undefined) : undefined;
      const { repo, chart, version } = helmOp.spec.helm ?? {};
      const desired = { repo: repo ?? "", chart: chart ?? "", constraint: version ?? "" };
      return {
        conditions: shownConditions(conditions),
        charts: chartsOf(pins, desired),
        polling: shownPolling(interval, polling, lastPollingTriggered ?? undefined),
      };
    },
    targetsOf: ({ spec }) => spec,
    isPolled,
  };
}
