/** The control plane of hubs that run in this process. */
import type { KubeRest } from "@flotilla/shared/kube/client";
import { namespaces } from "@flotilla/shared/kube/objects";
import { afterAll } from "vitest";
import { type ClusterClient, connectCluster } from "./cluster-client.ts";
import { leaseControlPlane } from "./control-planes.ts";

export const workspace = "fleet-default";

/** With the CRDs and the namespaces of the product. Lasts for the file. */
export async function startHubControlPlane(): Promise<ClusterClient> {
  const plane = await leaseControlPlane("hub");
  const client = await connectCluster(plane.kubeconfig);
  afterAll(() => client.close());
  for (const name of ["flotilla-system", workspace]) await createNamespace(client, name);
  return client;
}

export async function createNamespace(rest: KubeRest, name: string): Promise<void> {
  await rest.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
}
