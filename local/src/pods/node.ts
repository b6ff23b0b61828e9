/**
 * The node of the runner: pods that select it and tolerate its taint run here. Others, such as pods of a DaemonSet that tolerates
 * everything, are kwok's, which also keeps the Lease of the node.
 */
import { isAlreadyExists, type KubeRest } from "@flotilla/shared/kube/client";
import { formatTimeMs } from "@flotilla/shared/time";
import { type Node, nodes, type Pod } from "./resources.ts";

export const nodeName = "this-machine";
const label = "flotilla.dev/pods";

/** What the values of a chart need, so that its pods run here. */
export const scheduling = {
  nodeSelector: { [label]: "run" },
  tolerations: [{ key: label, operator: "Exists", effect: "NoSchedule" }],
} as const;

/** Whether the pod is meant for this machine, so that kwok leaves it alone (local/kwok/config.yaml). Pure. */
export function isForThisMachine({ spec }: Pod): boolean {
  return spec?.nodeSelector?.[label] !== undefined;
}

function nodeAt(nowMs: number, kubeletPort: number): Node {
  const now = formatTimeMs(nowMs);
  const architecture = process.arch === "arm64" ? "arm64" : "amd64";
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name: nodeName,
      annotations: { "kwok.x-k8s.io/node": "fake" },
      labels: {
        [label]: "run",
        "kubernetes.io/arch": architecture,
        "kubernetes.io/hostname": nodeName,
        "kubernetes.io/os": "linux",
      },
    },
    spec: { taints: [{ key: label, value: "run", effect: "NoSchedule" }] },
    status: {
      addresses: [{ type: "InternalIP", address: "127.0.0.1" }],
      allocatable: { cpu: "64", memory: "64Gi", pods: "110", "ephemeral-storage": "64Gi" },
      capacity: { cpu: "64", memory: "64Gi", pods: "110", "ephemeral-storage": "64Gi" },
      conditions: [
        {
          type: "Ready",
          status: "True",
          reason: "PodRunnerReady",
          message: "pods of Flotilla run on this machine",
          lastHeartbeatTime: now,
          lastTransitionTime: now,
        },
      ],
      daemonEndpoints: { kubeletEndpoint: { Port: kubeletPort } },
      nodeInfo: {
        architecture,
        bootID: "",
        containerRuntimeVersion: "flotilla://1",
        kernelVersion: "",
        kubeProxyVersion: "",
        kubeletVersion: "v0.0.0-flotilla",
        machineID: "",
        operatingSystem: "linux",
        osImage: "this machine",
        systemUUID: "",
      },
    },
  };
}

/** Creates the node, Ready, unless it exists. */
export async function registerNode(
  rest: KubeRest,
  nowMs: number,
  kubeletPort: number,
): Promise<void> {
  const node = nodeAt(nowMs, kubeletPort);
  try {
    await rest.create(nodes, node);
  } catch (thrown) {
    if (!isAlreadyExists(thrown)) throw thrown;
  }
  await rest.patch(
    nodes,
    node.metadata,
    { type: "merge", body: { status: node.status } },
    { subresource: "status" },
  );
}
