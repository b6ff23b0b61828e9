/** A connection to the API server of a cluster: the product's client, and an independent reader for assertions. */
import { connectKube, type KubeConnection, loadKubeconfig } from "@flotilla/shared/kube/client";
import { type ClusterReader, createClusterReader } from "./cluster-reader.ts";

export interface ClusterClient extends KubeConnection {
  readonly reader: ClusterReader;
}

/** `kubeconfig`: the path of the file; `context`: used instead of its current one. */
export async function connectCluster(kubeconfig: string, context?: string): Promise<ClusterClient> {
  const source = { path: kubeconfig, ...(context !== undefined && { context }) };
  return {
    ...connectKube(await loadKubeconfig(source)),
    reader: createClusterReader(kubeconfig, context),
  };
}
