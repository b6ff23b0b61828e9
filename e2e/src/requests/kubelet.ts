/** The part of a kubelet that serves logs, on a node of its own: the nodes of test clusters have none. */
import { readFile } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { ensureServerCertificate } from "@flotilla/local/control-plane";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import { type ChangeSignal, createChangeSignal } from "../harness/change-signal.ts";
import type { ClusterClient } from "../harness/cluster-client.ts";

const nodes: Resource<KubeObject & { readonly status?: unknown }> = {
  ...{ group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false },
};

export const nodeName = "with-logs";

export interface Kubelet extends ChangeSignal {
  /** The logs by `NAMESPACE/POD/CONTAINER`; without one a request gets no answer. */
  readonly logs: Map<string, string>;
  /** `NAMESPACE/POD/CONTAINER?QUERY` of each request. */
  readonly requests: readonly string[];
  /** The requests whose client did not wait for the answer. */
  readonly cancelled: readonly string[];
  close(): void;
}

/** `dir`: for its certificate. */
export async function startKubelet(client: ClusterClient, dir: string): Promise<Kubelet> {
  const { certFile, keyFile } = await ensureServerCertificate(join(dir, "kubelet"), "kubelet");
  const logs = new Map<string, string>();
  const requests: string[] = [];
  const cancelled: string[] = [];
  const signal = createChangeSignal(() => requests);
  const server = createServer(
    { cert: await readFile(certFile), key: await readFile(keyFile) },
    (request, response) => {
      const { pathname, search } = new URL(request.url ?? "", "https://node");
      const container = pathname.replace(/^\/containerLogs\//, "");
      requests.push(`${container}${search}`);
      const log = logs.get(container);
      if (log !== undefined) response.end(log);
      response.once("close", () => {
        if (!response.writableEnded) cancelled.push(container);
        signal.changed();
      });
      signal.changed();
    },
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  // Files of tests take turns on a control plane, and each starts a kubelet for the same node.
  if ((await client.reader.get(nodes, { name: nodeName })) === undefined)
    await client.create(nodes, { metadata: { name: nodeName } });
  const status = {
    addresses: [{ type: "InternalIP", address: "127.0.0.1" }],
    daemonEndpoints: { kubeletEndpoint: { Port: port } },
  };
  await client.patch(
    nodes,
    { name: nodeName },
    { type: "merge", body: { status } },
    { subresource: "status" },
  );
  return {
    ...{ logs, requests, cancelled },
    ...signal,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
