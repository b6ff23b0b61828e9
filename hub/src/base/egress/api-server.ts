/** Where the API server of the hub's cluster is, by the Service `kubernetes`, its EndpointSlices and the kubeconfig. Pure. */
import { isIP } from "node:net";
import type { EndpointSlice, Service } from "@flotilla/shared/kube/objects";
import type { Endpoint } from "@flotilla/shared/source/transport";

export interface ApiServerObjects {
  /** The server of the kubeconfig. */
  readonly server: string;
  readonly services: readonly Service[];
  readonly slices: readonly EndpointSlice[];
}

/** A server that the kubeconfig has by a name is known by the other two alone. */
export function apiServerEndpoints({
  server,
  services,
  slices,
}: ApiServerObjects): readonly Endpoint[] {
  return [
    ...serverEndpoints(server),
    ...services.flatMap(({ spec }) =>
      (spec?.clusterIPs ?? [spec?.clusterIP ?? ""])
        .filter((address) => isIP(address) !== 0)
        .flatMap((address) => (spec?.ports ?? []).map(({ port }) => ({ address, port }))),
    ),
    ...slices.flatMap(({ endpoints, ports }) =>
      (endpoints ?? [])
        .flatMap(({ addresses }) => addresses)
        .flatMap((address) =>
          (ports ?? []).flatMap(({ port }) => (port === undefined ? [] : [{ address, port }])),
        ),
    ),
  ];
}

function serverEndpoints(server: string): readonly Endpoint[] {
  const url = URL.parse(server);
  if (url === null) return [];
  const port = url.port === "" ? (url.protocol === "http:" ? 80 : 443) : Number(url.port);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const addresses = host === "localhost" ? ["127.0.0.1", "::1"] : [host];
  return addresses.filter((address) => isIP(address) !== 0).map((address) => ({ address, port }));
}
