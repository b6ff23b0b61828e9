/** A HelmRelease `apps/web` of a HelmRepository `apps/charts`, and what differs from it. */
import type { HelmRelease, HelmReleaseSpec, HelmReleaseStatus } from "@flotilla/shared/flux";
import type { ObjectMeta } from "@flotilla/shared/kube/objects";
import { httpPin } from "../../../testing/index.ts";
import type { ReleaseChart } from "../chart.ts";

export const webChart: NonNullable<HelmReleaseSpec["chart"]> = {
  spec: {
    chart: "web",
    version: "1.x",
    reconcileStrategy: "ChartVersion",
    sourceRef: { kind: "HelmRepository", name: "charts" },
  },
};

/** `spec.chart` is that of the test unless `chart` or `chartRef` is there, undefined too. */
export function aHelmRelease(
  spec: Partial<HelmReleaseSpec> = {},
  metadata: Partial<ObjectMeta> = {},
  status?: HelmReleaseStatus,
): HelmRelease {
  return {
    apiVersion: "helm.toolkit.fluxcd.io/v2",
    kind: "HelmRelease",
    metadata: { namespace: "apps", name: "web", uid: "uid-web", generation: 1, ...metadata },
    spec: {
      interval: "10m",
      ...("chart" in spec || "chartRef" in spec ? {} : { chart: webChart }),
      ...spec,
    },
    ...(status !== undefined && { status }),
  };
}

export const resolvedWeb: ReleaseChart = {
  repo: "https://charts.example.com",
  chart: "web",
  pin: httpPin("1.2.9"),
  access: { kind: "HelmRepository", url: "https://charts.example.com" },
};
