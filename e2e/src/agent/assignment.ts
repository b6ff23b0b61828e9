/** Assignments as a hub makes them, for charts that a test serves. */
import type { AssignmentRequest } from "@flotilla/agent/state";
import { type DeploymentContent, packContent } from "@flotilla/shared/content";
import { plainContent } from "@flotilla/shared/content/testing";
import type { Pin } from "@flotilla/shared/source";
import type { ChartArchive } from "../harness/chart-archive.ts";

export interface DeploymentSpec {
  readonly name: string;
  readonly chart: ChartArchive;
  /** The URL of the chart repository. */
  readonly url: string;
  readonly namespace?: string;
  readonly release?: string;
  /** Default: the address and the digest. */
  readonly pin?: Pin;
  readonly values?: Readonly<Record<string, unknown>>;
  readonly valuesFrom?: DeploymentContent["valuesFrom"];
  readonly hubValues?: DeploymentContent["hubValues"];
  readonly recordsNamespace?: string;
  readonly downstreamResources?: DeploymentContent["copies"];
  readonly dependsOn?: DeploymentContent["dependsOn"];
  readonly helm?: Partial<DeploymentContent["helm"]>;
  readonly actions?: DeploymentContent["actions"];
  readonly postRenderers?: DeploymentContent["postRenderers"];
  readonly commonMetadata?: DeploymentContent["commonMetadata"];
  readonly ignoredConditions?: DeploymentContent["ignoredConditions"];
  readonly drift?: DeploymentContent["drift"];
  readonly healthCheckExprs?: DeploymentContent["healthCheckExprs"];
  readonly uid?: string;
  readonly paused?: boolean;
  readonly request?: AssignmentRequest["request"];
  readonly keepResources?: boolean;
  readonly deleteCRDResources?: boolean;
  readonly deleteNamespace?: boolean;
  readonly allowedNamespaces?: DeploymentContent["allowedNamespaces"];
  readonly serviceAccount?: string;
}

/** The assignment of a deployment whose namespace and release have its name, unless the spec says otherwise. */
export async function assignmentOf(spec: DeploymentSpec): Promise<AssignmentRequest> {
  const { name, chart, url, values } = spec;
  const { deploymentId, bytes } = await packContent({
    ...plainContent,
    pin: spec.pin ?? {
      kind: "http",
      version: chart.version,
      url: `${url}/${chart.name}-${chart.version}.tgz`,
      digest: `sha256:${chart.digest}`,
    },
    releaseName: spec.release ?? name,
    namespace: spec.namespace ?? name,
    ...(values !== undefined && { values }),
    ...(spec.valuesFrom !== undefined && { valuesFrom: spec.valuesFrom }),
    ...(spec.hubValues !== undefined && { format: 2, hubValues: spec.hubValues }),
    ...(spec.recordsNamespace !== undefined && {
      ...{ format: 2, recordsNamespace: spec.recordsNamespace },
    }),
    ...(spec.downstreamResources !== undefined && { copies: spec.downstreamResources }),
    ...(spec.dependsOn !== undefined && { dependsOn: spec.dependsOn }),
    ...(spec.ignoredConditions !== undefined && { ignoredConditions: spec.ignoredConditions }),
    helm: { ...plainContent.helm, ...spec.helm },
    ...(spec.actions !== undefined && { format: 2, actions: spec.actions }),
    ...(spec.postRenderers !== undefined && { format: 2, postRenderers: spec.postRenderers }),
    ...(spec.commonMetadata !== undefined && { format: 2, commonMetadata: spec.commonMetadata }),
    ...(spec.drift !== undefined && { drift: spec.drift }),
    ...(spec.healthCheckExprs !== undefined && {
      format: 2,
      healthCheckExprs: spec.healthCheckExprs,
    }),
    keepResources: spec.keepResources ?? false,
    ...(spec.deleteCRDResources === true && { deleteCRDResources: true }),
    ...(spec.deleteNamespace === true && { deleteNamespace: true }),
    ...(spec.allowedNamespaces !== undefined && {
      ...{ format: 2, allowedNamespaces: spec.allowedNamespaces },
    }),
    ...(spec.serviceAccount !== undefined && { serviceAccount: spec.serviceAccount }),
  });
  return {
    deployment: { name, uid: spec.uid ?? `uid-${name.slice(0, 40)}` },
    deploymentId,
    content: bytes,
    paused: spec.paused ?? false,
    ...(spec.request !== undefined && { request: spec.request }),
  };
}
