/** The objects for fake workloads: a node that kwok manages, and a storage class. */
import { AppError } from "@flotilla/shared/errors";
import { stringify } from "yaml";
import { localErrors } from "../errors.ts";
import { waitUntil } from "../process/index.ts";
import type { ApiClient } from "./api-client.ts";

const nodeName = "fake-node";

const fakeNode = {
  apiVersion: "v1",
  kind: "Node",
  metadata: {
    name: nodeName,
    annotations: { "kwok.x-k8s.io/node": "fake", "node.alpha.kubernetes.io/ttl": "0" },
    labels: {
      "kubernetes.io/arch": "amd64",
      "kubernetes.io/hostname": nodeName,
      "kubernetes.io/os": "linux",
      "node-role.kubernetes.io/worker": "",
    },
  },
  spec: { podCIDR: "10.244.0.0/16" },
  status: {
    allocatable: { cpu: "1k", memory: "1Ti", pods: "100k", "ephemeral-storage": "1Ti" },
    capacity: { cpu: "1k", memory: "1Ti", pods: "100k", "ephemeral-storage": "1Ti" },
    nodeInfo: {
      architecture: "amd64",
      bootID: "",
      containerRuntimeVersion: "kwok",
      kernelVersion: "kwok",
      kubeProxyVersion: "kwok",
      kubeletVersion: "kwok",
      machineID: "",
      operatingSystem: "linux",
      osImage: "kwok",
      systemUUID: "",
    },
  },
};

const storageClass = {
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: {
    name: "standard",
    annotations: { "storageclass.kubernetes.io/is-default-class": "true" },
  },
  provisioner: "kubernetes.io/host-path",
  reclaimPolicy: "Delete",
  volumeBindingMode: "Immediate",
};

/** Creates the node and the default storage class unless they exist. */
export async function createWorkloadObjects(api: ApiClient): Promise<void> {
  await create(api, "/api/v1/nodes", fakeNode);
  await create(api, "/apis/storage.k8s.io/v1/storageclasses", storageClass);
}

/** Deletes the Lease of the node, by which its kwok holds it. Does nothing when there is none. */
export async function deleteNodeLease(api: ApiClient): Promise<void> {
  await api.call(
    "DELETE",
    `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${nodeName}`,
  );
}

/** Waits until pods can be scheduled: the node is Ready and has no taints. */
export async function waitForNode(
  api: ApiClient,
  options: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<void> {
  await waitUntil(
    async () => {
      const answer = await api.call("GET", `/api/v1/nodes/${nodeName}`);
      return answer.status === 200 && isNodeReady(JSON.parse(answer.body));
    },
    { what: `node ${nodeName}`, ...options },
  );
}

/** The configuration file of the scheduler; it ignores the flags for client rate limits. */
export function schedulerConfiguration(kubeconfig: string): string {
  return stringify({
    apiVersion: "kubescheduler.config.k8s.io/v1",
    kind: "KubeSchedulerConfiguration",
    leaderElection: { leaderElect: false },
    clientConnection: { kubeconfig, qps: 500, burst: 1000 },
    enableProfiling: false,
    enableContentionProfiling: false,
  });
}

interface NodeLike {
  readonly spec?: { readonly taints?: readonly unknown[] };
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

function isNodeReady(node: NodeLike): boolean {
  const ready =
    node.status?.conditions?.some((one) => one.type === "Ready" && one.status === "True") ?? false;
  return ready && (node.spec?.taints ?? []).length === 0;
}

async function create(api: ApiClient, path: string, object: unknown): Promise<void> {
  const answer = await api.call("POST", path, object);
  if (answer.status >= 300 && answer.status !== 409) {
    throw new AppError(
      localErrors.CLUSTER_START_FAILED,
      `create ${path}: HTTP status ${answer.status}: ${answer.body}`,
    );
  }
}
