/** Services of type LoadBalancer: listens on 127.0.0.1 and forwards each connection to a pod that is ready. */
import { createConnection, createServer, type Server } from "node:net";
import type { Log } from "@flotilla/shared/log";
import { type Endpoint, endpointsOf, targetPortOf } from "./hosts.ts";
import type { Service } from "./resources.ts";

/** `spec.loadBalancerClass` of Services that the runner serves. */
export const loopbackClass = "flotilla.dev/loopback";
export const loopback = "127.0.0.1";

export interface LoadBalancer {
  /** Opens and closes ports, so that the ports of these Services are open. */
  serve(services: readonly Service[]): void;
  close(): void;
}

interface ServedPort {
  readonly server: Server;
  /** Connections so far; they are spread over the pods. */
  connections: number;
}

export function isServed({ spec }: Service): boolean {
  return spec?.type === "LoadBalancer" && spec.loadBalancerClass === loopbackClass;
}

export function createLoadBalancer(
  current: () => { readonly services: readonly Service[]; readonly endpoints: readonly Endpoint[] },
  log: Log,
): LoadBalancer {
  const open = new Map<number, ServedPort>();

  /** Host and port of the next pod; undefined if none is ready. */
  function choose(port: number, turn: number): { host: string; port: number } | undefined {
    const { services, endpoints } = current();
    for (const service of services.filter(isServed)) {
      const served = service.spec?.ports?.find((each) => each.port === port);
      if (served === undefined) continue;
      const ready = endpointsOf(service, endpoints);
      const endpoint = ready[turn % Math.max(1, ready.length)];
      if (endpoint !== undefined)
        return { host: endpoint.ip, port: targetPortOf(served, endpoint) };
    }
    return undefined;
  }

  function listen(port: number): ServedPort {
    const served: ServedPort = { connections: 0, server: createServer({ noDelay: true }) };
    served.server.on("connection", (client) => {
      const target = choose(port, served.connections++);
      client.on("error", () => undefined);
      if (target === undefined) {
        client.destroy();
        return;
      }
      const pod = createConnection({ ...target, noDelay: true });
      pod.on("error", () => client.destroy());
      client.on("close", () => pod.destroy());
      pod.on("close", () => client.destroy());
      client.pipe(pod).pipe(client);
    });
    served.server.on("error", (error) => {
      log.warn({ port, err: error.message }, "the port of a LoadBalancer Service cannot be opened");
    });
    served.server.listen(port, loopback);
    return served;
  }

  return {
    serve(services) {
      const ports = new Set(
        services
          .filter(isServed)
          .flatMap(({ spec }) => (spec?.ports ?? []).map(({ port }) => port)),
      );
      for (const port of ports) if (!open.has(port)) open.set(port, listen(port));
      for (const [port, { server }] of open) {
        if (ports.has(port)) continue;
        server.close();
        open.delete(port);
      }
    },
    close() {
      for (const { server } of open.values()) server.close();
      open.clear();
    },
  };
}
