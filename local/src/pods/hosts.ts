/** Names of Services for the pods of a cluster: there is no DNS server, so each pod has them in its hosts file. Pure. */
import { portOf } from "./probe.ts";
import type { Container, Service } from "./resources.ts";

/** A pod that runs here. */
export interface Endpoint {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly container: Container;
  readonly ip: string;
  readonly isReady: boolean;
}

/** The pods that a Service selects; those that are not ready only if it publishes them. */
export function endpointsOf(service: Service, endpoints: readonly Endpoint[]): readonly Endpoint[] {
  const { selector, publishNotReadyAddresses } = service.spec ?? {};
  if (selector === undefined) return [];
  return endpoints.filter(
    ({ namespace, labels, isReady }) =>
      namespace === service.metadata.namespace &&
      (isReady || publishNotReadyAddresses === true) &&
      Object.entries(selector).every(([key, value]) => labels[key] === value),
  );
}

/** Addresses by name; of several pods, the first. A Service is found only if it has the same port as its pods. */
export function serviceHosts(
  services: readonly Service[],
  endpoints: readonly Endpoint[],
): ReadonlyMap<string, string> {
  const hosts = new Map<string, string>();
  for (const service of services) {
    const [endpoint] = endpointsOf(service, endpoints);
    const { name, namespace = "" } = service.metadata;
    if (endpoint !== undefined) hosts.set(`${name}.${namespace}.svc`, endpoint.ip);
  }
  return hosts;
}

/** The hosts file of a pod. */
export function formatHosts(
  pod: { readonly name: string; readonly ip: string },
  hosts: ReadonlyMap<string, string>,
): string {
  const lines = [...hosts].map(
    ([name, ip]) => `${ip}\t${name}.cluster.local ${name} ${name.replace(/\.svc$/, "")}`,
  );
  return `${["127.0.0.1\tlocalhost", `${pod.ip}\t${pod.name}`, ...lines].join("\n")}\n`;
}

/** The number of the port that a Service forwards to. */
export function targetPortOf(
  { port, targetPort }: { readonly port: number; readonly targetPort?: unknown },
  { container }: Endpoint,
): number {
  return portOf(container, (targetPort as number | string | undefined) ?? port);
}
