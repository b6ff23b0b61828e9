/**
 * Which addresses the hub contacts for tenants: for charts and for notifications. Denied are also, on every replica, the ports of
 * all replicas and the API server of the hub's cluster, as it is known to the cluster now.
 */
import { createInformer } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import {
  type EndpointSlice,
  endpointSlices,
  type Service,
  services,
} from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import { type EgressPolicy, type Endpoint, networksOf } from "@flotilla/shared/source/transport";
import type { EgressConfig } from "../../config.ts";
import { apiServerEndpoints } from "./api-server.ts";

export interface HubEgress {
  /** Where sources may be, and whatever else tenants have the hub ask. */
  readonly charts: EgressPolicy;
  /** Where Providers may be. */
  readonly notifications: EgressPolicy;
  /** The ports that this process listens on. To be filled as they are opened. */
  readonly ownPorts: number[];
  /** Keeps the addresses of the API server up to date until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

export interface HubEgressDeps {
  readonly config: EgressConfig;
  /** The server of the kubeconfig. */
  readonly server: string;
  readonly rest: KubeRest;
  /** `host:port` of each replica that has said it. */
  readonly replicaAddresses: () => readonly string[];
  readonly log: Log;
}

export function createHubEgress(deps: HubEgressDeps): HubEgress {
  const { config, server, rest, replicaAddresses, log } = deps;
  const ownPorts: number[] = [];
  const only = { namespace: "default", fieldSelector: "metadata.name=kubernetes" };
  const serviceCache = createInformer<Service>({
    rest,
    resource: services,
    ...only,
    log: log.child({ cache: services.plural }),
  });
  const sliceCache = createInformer<EndpointSlice>({
    rest,
    resource: endpointSlices,
    ...only,
    log: log.child({ cache: endpointSlices.plural }),
  });

  function denies({ address, port }: Endpoint): string | undefined {
    if (ownPorts.includes(port) && replicaAddresses().some((each) => hostOf(each) === address))
      return "a port of Flotilla itself";
    if (!config.denyApiServer) return undefined;
    const objects = {
      server,
      services: serviceCache.store.list(),
      slices: sliceCache.store.list(),
    };
    const isApiServer = apiServerEndpoints(objects).some(
      (each) => each.address === address && each.port === port,
    );
    return isApiServer ? "the address of the API server" : undefined;
  }

  const { allowLoopback, denyPrivate, denyPrivateNotifications } = config;
  const common = { allowLoopback, ownPorts, denied: networksOf(config.denied), denies };
  return {
    charts: { ...common, denyPrivate },
    notifications: { ...common, denyPrivate: denyPrivateNotifications },
    ownPorts,
    async run(signal) {
      if (!config.denyApiServer) return;
      await Promise.all([serviceCache.run(signal), sliceCache.run(signal)]);
    },
  };
}

function hostOf(address: string): string | undefined {
  return URL.parse(`http://${address}`)?.hostname.replace(/^\[|\]$/g, "");
}
