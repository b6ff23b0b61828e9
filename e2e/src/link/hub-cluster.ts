/** The API server that the hubs of these tests have behind them. */
import { startTestControlPlane } from "@flotilla/local/testing/test-parts.ts";
import { allCrds } from "@flotilla/shared/api/crd/crds.ts";
import {
  bundleDeployments,
  clusterRegistrationTokens,
  clusters,
} from "@flotilla/shared/api/resources.ts";
import { connectKube } from "@flotilla/shared/kube/client/connect.ts";
import { loadKubeconfig } from "@flotilla/shared/kube/client/load-kubeconfig.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import {
  type CustomResourceDefinition,
  customResourceDefinitions,
  namespaces,
} from "@flotilla/shared/kube/objects/core-resources.ts";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects/object.ts";
import { afterAll } from "vitest";

export const workspace = "fleet-default";

/** A control plane with the CRDs and the namespaces of the product; it lasts for the file. */
export async function startHubCluster(): Promise<KubeRest> {
  const plane = await startTestControlPlane({ onTestFinished: afterAll }, { workloads: false });
  const rest = connectKube(await loadKubeconfig({ path: plane.kubeconfig }));
  afterAll(() => rest.close());
  for (const crd of allCrds()) {
    await rest.create(customResourceDefinitions, crd);
  }
  for (const name of ["flotilla-system", workspace]) await createNamespace(rest, name);
  for (const resource of [clusters, bundleDeployments, clusterRegistrationTokens]) {
    await served(rest, resource);
  }
  return rest;
}

export async function createNamespace(rest: KubeRest, name: string): Promise<void> {
  await rest.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
}

/** A new kind is served a moment after its CRD was created: its Established condition is watched for. */
async function served(rest: KubeRest, resource: Resource<KubeObject>): Promise<void> {
  const name = `${resource.plural}.${resource.group}`;
  const isEstablished = ({ status }: CustomResourceDefinition): boolean =>
    status?.conditions?.some((one) => one.type === "Established" && one.status === "True") === true;
  const page = await rest.list(customResourceDefinitions, {
    fieldSelector: `metadata.name=${name}`,
  });
  if (page.items.some(isEstablished)) return;
  const events = rest.watch(customResourceDefinitions, {
    fieldSelector: `metadata.name=${name}`,
    resourceVersion: page.resourceVersion,
    timeoutSeconds: 30,
  });
  for await (const event of events) {
    if (event.type !== "BOOKMARK" && isEstablished(event.object)) return;
  }
  throw new Error(`${name} was not served within 30 s`);
}
