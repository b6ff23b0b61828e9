/** The one door of the hub's port: whoever is not let through here reaches no handler, except to enrol. */
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import type { Clock } from "@flotilla/shared/clock/clock.ts";
import type { Store } from "@flotilla/shared/kube/store.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import { ServerInterceptingCall, type ServerInterceptor, status } from "@grpc/grpc-js";
import { type AgentCertificate, certificateOf, refusalOf } from "./agent-certificate.ts";
import { RpcError, serveErrors } from "./errors.ts";
import { createOpenCalls } from "./open-calls.ts";
import { createRateLimit } from "./rate-limit.ts";
import type { Refusals } from "./refusals.ts";

/**
 * Of one agent at the same time, over all its connections: its stream, a renewal, and streams that were cut off and of
 * which the hub does not know yet. What a stream that nobody reads holds in memory lasts as long as its connection.
 */
const mostCalls = 16;

export interface AuthenticateDeps {
  readonly hubId: string;
  readonly clusters: Store<Cluster>;
  /** Whether the hub knows the fleet; before, it answers nobody. */
  readonly hasSynced: () => boolean;
  /** The path of the one method that needs no certificate. */
  readonly enrollPath: string;
  readonly refusals: Refusals;
  readonly clock: Clock;
  readonly log: Log;
}

export function authenticateAgents(deps: AuthenticateDeps): ServerInterceptor {
  const { hubId, clusters, hasSynced, enrollPath, refusals, clock, log } = deps;
  const openCalls = createOpenCalls(mostCalls);
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
    const name = certificate && nameOf(certificate);
    const cluster = name === undefined ? undefined : clusters.get(name);
    return refusalOf({ certificate, hubId, cluster, now: clock.now() });
  }

  return (method, call) => {
    let leave = (): void => undefined;
    return new ServerInterceptingCall(call, {
      start(next) {
        next({
          // Also at its good end.
          onCancel: () => leave(),
          onReceiveMetadata(metadata, proceed) {
            const certificate = certificateOf(call);
            const refusal = judge(method.path, certificate);
            if (refusal === undefined) {
              const who = certificate && nameOf(certificate);
              const entered = who === undefined ? leave : openCalls.enter(who);
              if (entered !== undefined) {
                leave = entered;
                proceed(metadata);
                return;
              }
              const message = `more than ${mostCalls} calls of one agent are open; end some of them first`;
              refusals.refused(who ?? "", {
                reason: "calls",
                fields: { cluster: who },
                message: "agent has too many calls open",
              });
              call.sendStatus({ code: status.RESOURCE_EXHAUSTED, details: message });
              return;
            }
            if (refusal.code !== serveErrors.HUB_NOT_READY.code) refusals.counted("certificate");
            const peer = call.getPeer();
            if (lines.take(`${peer.slice(0, peer.lastIndexOf(":"))} ${refusal.message}`)) {
              log.warn({ peer, code: refusal.code, err: refusal.message }, "agent was turned away");
            }
            call.sendStatus({ code: refusal.status, details: refusal.message });
          },
        });
      },
    });
  };
}

function nameOf({ identity }: AgentCertificate): string {
  return `${identity.namespace}/${identity.name}`;
}
