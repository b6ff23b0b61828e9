/** Contents as a hub would make them, for charts that a test serves. */
import type { AssignmentRequest } from "@flotilla/agent/assignment";
import { type DeploymentContent, packContent } from "@flotilla/shared/content";
import { plainContent } from "@flotilla/shared/content/testing";
import type { Pin } from "@flotilla/shared/source";
import type { ChartArchive } from "../harness/chart-archive.ts";

export interface DeploymentSpec {
  readonly name: string;
  readonly chart: ChartArchive;
  /** Of the chart repository. */
  readonly url: string;
  readonly namespace?: string;
  readonly release?: string;
  /** By default by address and digest. */
  readonly pin?: Pin;
  readonly values?: Readonly<Record<string, unknown>>;
  readonly valuesFrom?: DeploymentContent["valuesFrom"];
  readonly downstreamResources?: DeploymentContent["copies"];
  readonly dependsOn?: DeploymentContent["dependsOn"];
  readonly helm?: Partial<DeploymentContent["helm"]>;
  readonly uid?: string;
  readonly paused?: boolean;
  readonly keepResources?: boolean;
  readonly deleteCRDResources?: boolean;
  readonly serviceAccount?: string;
}

/** The deployment in a namespace and with a release of its own name, unless it says otherwise. */
export async function assignmentOf(wanted: DeploymentSpec): Promise<AssignmentRequest> {
  const { name, chart, url, values } = wanted;
  const { deploymentId, bytes } = await packContent({
    ...plainContent,
    pin: wanted.pin ?? {
      kind: "http",
      version: chart.version,
      url: `${url}/${chart.name}-${chart.version}.tgz`,
      digest: `sha256:${chart.digest}`,
    },
    releaseName: wanted.release ?? name,
    namespace: wanted.namespace ?? name,
    ...(values !== undefined && { values }),
    ...(wanted.valuesFrom !== undefined && { valuesFrom: wanted.valuesFrom }),
    ...(wanted.downstreamResources !== undefined && { copies: wanted.downstreamResources }),
    ...(wanted.dependsOn !== undefined && { dependsOn: wanted.dependsOn }),
    helm: { ...plainContent.helm, ...wanted.helm },
    keepResources: wanted.keepResources ?? false,
    ...(wanted.deleteCRDResources === true && { deleteCRDResources: true }),
    ...(wanted.serviceAccount !== undefined && { serviceAccount: wanted.serviceAccount }),
  });
  return {
    deployment: { name, uid: wanted.uid ?? `uid-${name.slice(0, 40)}` },
    deploymentId,
    content: bytes,
    paused: wanted.paused ?? false,
  };
}
