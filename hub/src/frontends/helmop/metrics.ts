/** The metrics of HelmOps, with the names and labels of Fleet. Pure, of the cache. */
import type { HelmOp } from "@flotilla/shared/api";
import type { Store } from "@flotilla/shared/kube/cache";
import { describeUrl } from "@flotilla/shared/source";
import { appMetrics, type SeriesMetric } from "../../rules/index.ts";

export function helmOpMetrics(helmOps: Pick<Store<HelmOp>, "list">): readonly SeriesMetric[] {
  return appMetrics({
    prefix: "fleet_helmop",
    list: () => helmOps.list(),
    labelsOf: ({ metadata: { name, namespace = "" }, spec: { helm }, status }) => ({
      name,
      namespace,
      repo: shownAddress(helm?.repo ?? ""),
      chart: shownAddress(helm?.chart ?? ""),
      version: status?.version ?? "",
    }),
    countsOf: ({ status }) => ({
      readyClusters: status?.readyClusters,
      desiredReadyClusters: status?.desiredReadyClusters,
      resources: status?.resourceCounts,
    }),
  });
}

/** Unchanged except for possible secrets. */
function shownAddress(text: string): string {
  const url = URL.parse(text.trim());
  if (url === null) return text.includes("@") ? "" : text;
  const { username, password, search } = url;
  return username === "" && password === "" && search === "" ? text : describeUrl(url);
}
