/** The server of Receivers, put together. */
import { reconcileRequestAnnotation } from "@flotilla/shared/api/names";
import type { Receiver as FluxReceiver } from "@flotilla/shared/flux";
import type { Informer } from "@flotilla/shared/kube/cache";
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
import { createReceiverServer, type ReceiverServer } from "./receiver-server.ts";
import { createReconcileRequests } from "./request-reconciles.ts";
import type { ReferenceRules } from "./targets.ts";
import { createReceiverSecrets } from "./tokens.ts";

export interface ReceiversDeps extends ReferenceRules {
  readonly rest: KubeRest;
  readonly receivers: Pick<Informer<FluxReceiver>, "store">;
  readonly objects: Pick<WorkspaceObjects, "known">;
  /** The issuer of the tokens of Google Pub/Sub, `https://…`. */
  readonly issuer: string;
  readonly userAgent: string;
  readonly egress: EgressPolicy;
  readonly proxy?: ProxySettings;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Receivers extends ReceiverServer {
  /** Ends the connections to the issuer. */
  close(): Promise<void>;
}

export function createReceivers(deps: ReceiversDeps): Receivers {
  const { rest, receivers, userAgent, egress, proxy, clock } = deps;
  const pools = createConnectionPools({
    ...(proxy !== undefined && { proxy }),
    connectTimeoutMs: 5_000,
    idleTimeoutMs: 10_000,
    connectionsPerHost: 1,
    maxPools: 4,
    egress,
  });
  const server = createReceiverServer({
    ...deps,
    receivers: receivers.store,
    secrets: createReceiverSecrets(deps),
    filters: createFilters(),
    readResources: createResourceReader(deps),
    requestReconciles: createReconcileRequests({
      rest,
      clock,
      annotation: reconcileRequestAnnotation,
    }),
    verifyGoogle: createGoogleVerifier({
      ...deps,
      exchange: createExchanger({ pools, userAgent }),
    }),
  });
  return { ...server, close: () => pools.close() };
}
