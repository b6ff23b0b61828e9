/** What a new fleet is shown with: one HelmOp that follows a constraint. */
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";
import { workspaceNamespace } from "@flotilla/shared/api/names.ts";
import { apiVersion } from "@flotilla/shared/api/resources.ts";

/** The sample chart's name in both repositories, and the version that is published at the start. */
export const sampleChart = "web";
export const sampleVersion = "0.1.5";

/** `charts`: the address of the HTTP chart repository. */
export function sampleHelmOp(charts: string): HelmOp {
  return {
    apiVersion,
    kind: "HelmOp",
    metadata: { namespace: workspaceNamespace, name: "sample" },
    spec: {
      helm: { repo: charts, chart: sampleChart, version: "0.1.x" },
      namespace: "sample",
      pollingInterval: "5s",
      targets: [{ clusterSelector: {} }],
    },
  };
}
