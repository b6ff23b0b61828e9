/** The API server that the hubs of these tests have behind them. */
import { connectKube, type KubeRest, loadKubeconfig } from "@flotilla/shared/kube/client";
import { namespaces } from "@flotilla/shared/kube/objects";
import { afterAll } from "vitest";
import { leaseControlPlane } from "./control-planes.ts";

export const workspace = "fleet-default";

/** A control plane with the CRDs and the namespaces of the product; it lasts for the file. */
export async function startHubCluster(): Promise<KubeRest> {
  const plane = await leaseControlPlane("hub");
  const rest = connectKube(await loadKubeconfig({ path: plane.kubeconfig }));
  afterAll(() => rest.close());
  for (const name of ["flotilla-system", workspace]) await createNamespace(rest, name);
  return rest;
}

export async function createNamespace(rest: KubeRest, name: string): Promise<void> {
  await rest.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
}
