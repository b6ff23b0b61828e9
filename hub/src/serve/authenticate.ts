/** The one door of the hub's port: whoever is not let through here reaches no handler, except to enrol. */
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import type { Clock } from "@flotilla/shared/clock/clock.ts";
import type { Store } from "@flotilla/shared/kube/store.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import { ServerInterceptingCall, type ServerInterceptor, status } from "@grpc/grpc-js";
import { type AgentCertificate, certificateOf, refusalOf } from "./agent-certificate.ts";
import { RpcError, serveErrors } from "./errors.ts";
import { createRateLimit } from "./rate-limit.ts";

export interface AuthenticateDeps {
  readonly hubId: string;
  readonly clusters: Store<Cluster>;
  /** Whether the hub knows the fleet; before, it answers nobody. */
  readonly hasSynced: () => boolean;
  /** The path of the one method that needs no certificate. */
  readonly enrollPath: string;
  readonly clock: Clock;
  readonly log: Log;
}

export function authenticateAgents(deps: AuthenticateDeps): ServerInterceptor {
  const { hubId, clusters, hasSynced, enrollPath, clock, log } = deps;
  // An agent that is refused comes again and again; one line a minute says enough.
  const lines = createRateLimit({ clock, perSecond: 1 / 60, burst: 1 });

  function judge(path: string, certificate: AgentCertificate | undefined): RpcError | undefined {
    if (!hasSynced()) {
      return new RpcError(
        status.UNAVAILABLE,
        serveErrors.HUB_NOT_READY,
        "the hub has just started and is still reading what it knows of the fleet; try again in a moment",
      );
    }
    if (path === enrollPath) return undefined;
    const name = certificate && `${certificate.identity.namespace}/${certificate.identity.name}`;
    const cluster = name === undefined ? undefined : clusters.get(name);
    return refusalOf({ certificate, hubId, cluster, now: clock.now() });
  }

  return (method, call) =>
    new ServerInterceptingCall(call, {
      start(next) {
        next({
          onReceiveMetadata(metadata, proceed) {
            const certificate = certificateOf(call);
            const refusal = judge(method.path, certificate);
            if (refusal === undefined) {
              proceed(metadata);
              return;
            }
            const peer = call.getPeer();
            if (lines.take(`${peer.slice(0, peer.lastIndexOf(":"))} ${refusal.message}`)) {
              log.warn({ peer, code: refusal.code, err: refusal.message }, "agent was turned away");
            }
            call.sendStatus({ code: refusal.status, details: refusal.message });
          },
        });
      },
    });
}
