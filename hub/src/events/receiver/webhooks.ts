/** The webhooks of a replica, put together: for Receivers at `/hook/`, and the endpoint of registries at `/hooks/`. */
import type { HelmOp } from "@flotilla/shared/api";
import { pollRequestAnnotation, reconcileRequestAnnotation } from "@flotilla/shared/api/names";
import type { Receiver as FluxReceiver } from "@flotilla/shared/flux";
import type { Informer, Store } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import type { Log } from "@flotilla/shared/log";
import {
  createConnectionPools,
  createExchanger,
  type EgressPolicy,
  type ProxySettings,
} from "@flotilla/shared/source/transport";
import type { Clock } from "@flotilla/shared/time";
import type { WorkspaceObjects } from "../../rules/index.ts";
import { createFilters } from "./filters.ts";
import { createGoogleVerifier } from "./google-token.ts";
import { createResourceReader } from "./read-resources.ts";
import { createReceiverServer } from "./receiver-server.ts";
import { createRegistryKeys } from "./registry-keys.ts";
import { createRegistryServer } from "./registry-server.ts";
import { createReconcileRequests } from "./request-reconciles.ts";
import { type WebhookRoute, type WebhookRouteOptions, webhookRoute } from "./route.ts";
import type { ReferenceRules } from "./targets.ts";
import { createReceiverSecrets } from "./tokens.ts";

export interface WebhooksDeps extends ReferenceRules, WebhookRouteOptions {
  readonly rest: KubeRest;
  readonly receivers: Pick<Informer<FluxReceiver>, "store">;
  readonly helmOps: Pick<Store<HelmOp>, "list">;
  readonly objects: Pick<WorkspaceObjects, "known">;
  /** The issuer of the tokens of Google Pub/Sub, `https://…`. */
  readonly issuer: string;
  readonly userAgent: string;
  readonly egress: EgressPolicy;
  readonly proxy?: ProxySettings;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Webhooks {
  /** By the start of their paths. */
  readonly routes: Readonly<Record<string, WebhookRoute>>;
  /** Keeps the keys of registries up to date until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** Ends the connections to the issuer. */
  close(): Promise<void>;
}

export function createWebhooks(deps: WebhooksDeps): Webhooks {
  const { rest, receivers, userAgent, egress, proxy, clock, log } = deps;
  const pools = createConnectionPools({
    ...(proxy !== undefined && { proxy }),
    connectTimeoutMs: 5_000,
    idleTimeoutMs: 10_000,
    connectionsPerHost: 1,
    maxPools: 4,
    egress,
  });
  const keys = createRegistryKeys(rest, log);
  const requestsBy = (annotation: string) => createReconcileRequests({ rest, clock, annotation });
  const servers = {
    "/hook/": createReceiverServer({
      ...deps,
      receivers: receivers.store,
      secrets: createReceiverSecrets(deps),
      filters: createFilters(),
      readResources: createResourceReader(deps),
      requestReconciles: requestsBy(reconcileRequestAnnotation),
      verifyGoogle: createGoogleVerifier({
        ...deps,
        exchange: createExchanger({ pools, userAgent }),
      }),
    }),
    "/hooks/": createRegistryServer({
      keys,
      store: deps.helmOps,
      requestPolls: requestsBy(pollRequestAnnotation),
      clock,
      log,
    }),
  };
  return {
    routes: Object.fromEntries(
      Object.entries(servers).map(([path, server]) => [path, webhookRoute(server, deps)]),
    ),
    run: (signal) => keys.run(signal),
    close: () => pools.close(),
  };
}
