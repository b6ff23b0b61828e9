/** The kinds of Kubernetes that the pod runner reads and writes, besides those that the product uses. */

import type { Kubernetes, Resource } from "@flotilla/shared/kube/objects";
import type { V1Node, V1Pod, V1Service } from "@kubernetes/client-node";

export type Pod = Kubernetes<V1Pod>;
export type PodSpec = NonNullable<Pod["spec"]>;
export type PodStatus = NonNullable<Pod["status"]>;
export type Container = PodSpec["containers"][number];
export type Volume = NonNullable<PodSpec["volumes"]>[number];
export type Service = Kubernetes<V1Service>;
export type Node = Kubernetes<V1Node>;

export const pods: Resource<Pod> = {
  group: "",
  version: "v1",
  kind: "Pod",
  plural: "pods",
  namespaced: true,
};
export const services: Resource<Service> = {
  group: "",
  version: "v1",
  kind: "Service",
  plural: "services",
  namespaced: true,
};
export const nodes: Resource<Node> = {
  group: "",
  version: "v1",
  kind: "Node",
  plural: "nodes",
  namespaced: false,
};
