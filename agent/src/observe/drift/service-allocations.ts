/** The addresses and ports that the API server allocates to one Service at a time. */
import type { KubeObject } from "@flotilla/shared/kube/objects";

interface ServiceLike extends KubeObject {
  readonly spec?: Readonly<Record<string, unknown>> | null;
}

/** A Service without what another one, the live one, has. Other objects, and `clusterIP: None`, stay as they are. Pure. */
export function withoutAllocations(object: KubeObject): KubeObject {
  const { spec }: ServiceLike = object;
  if (object.kind !== "Service" || object.apiVersion !== "v1" || !spec) return object;
  const { clusterIP, clusterIPs, healthCheckNodePort: _, ports, ...others } = spec;
  const isHeadless = clusterIP === "None";
  const service: ServiceLike = {
    ...object,
    spec: {
      ...others,
      ...(isHeadless && { clusterIP, clusterIPs }),
      ports: Array.isArray(ports) ? ports.map(withoutNodePort) : ports,
    },
  };
  return service;
}

function withoutNodePort(port: unknown): unknown {
  if (typeof port !== "object" || port === null) return port;
  return Object.fromEntries(Object.entries(port).filter(([name]) => name !== "nodePort"));
}
