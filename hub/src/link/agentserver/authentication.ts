/** The authentication interceptor of the hub's gRPC port. A call that it rejects reaches no handler; only Enroll needs no certificate. */

import type { PeerCertificate } from "node:tls";
import type { Cluster } from "@flotilla/shared/api";
import { createKeyedRateLimiter } from "@flotilla/shared/concurrency";
import type { Store } from "@flotilla/shared/kube/cache";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import {
  type Metadata,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  status,
} from "@grpc/grpc-js";
import { hubErrors } from "../../base/index.ts";
import {
  type AgentCertificate,
  noCertificate,
  parseAgentCertificate,
  validateCaller,
} from "../identity/agent-certificate.ts";
import { RpcError } from "../rpc/errors.ts";
import { hostOf, type Rejections } from "../rpc/rejections.ts";
import { createCallLimit } from "./call-limits.ts";
import { enrolmentAdmission, type Rejecting } from "./enrolment-admission.ts";
import { createEventLoopQueue } from "./event-loop-queue.ts";
import type { AgentPort } from "./port.ts";

/**
 * The calls of one agent at the same time, over all its connections: its stream, a renewal, and streams that were cut off without the hub
 * having noticed. What an unread stream buffers stays until its connection ends.
 */
const maxCallsPerAgent = 16;
/** For authenticating agents, in one iteration of the event loop: thousands connect at once after a restart. */
const authenticationSliceMs = 10;

export interface AuthenticationDeps {
  readonly hubId: string;
  readonly clusters: Store<Cluster>;
  /** Whether the caches have synced; before, no agent is answered. */
  readonly hasSynced: () => boolean;
  /** The path of the one method that needs no certificate. */
  readonly enrollPath: string;
  readonly connections: Pick<AgentPort, "authenticated" | "bytesFrom" | "closeConnection">;
  readonly rejections: Rejections;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Authentication {
  readonly interceptor: ServerInterceptor;
  /** The agent that makes an authenticated call. */
  callerOf(call: { readonly metadata: Metadata }): AgentCertificate;
}

export function createAuthentication(deps: AuthenticationDeps): Authentication {
  const { enrollPath, rejections, clock, log } = deps;
  /** By the object that the handler of the call gets as well: parsing a certificate twice would be a tenth of a reconnect. */
  const callers = new WeakMap<Metadata, AgentCertificate>();
  // A rejected agent retries without end; one line a minute is enough.
  const lines = createKeyedRateLimiter({ clock, perSecond: 1 / 60, burst: 1 });

  function reject(call: ServerInterceptingCallInterface, error: RpcError): void {
    if (error.code !== hubErrors.HUB_NOT_READY.code) rejections.count("certificate");
    const peer = call.getPeer();
    if (lines.take(`${hostOf(peer)} ${error.message}`))
      log.warn({ peer, code: error.code, err: error.message }, "rejected an agent's call");
    call.sendStatus({ code: error.status, details: error.message });
  }

  const admission = { ...deps, reject };
  const admitEnrolment = enrolmentAdmission({ ...admission, notReady: () => notReady(deps) });
  const admitAgent = agentAdmission(admission, (metadata, agent) => {
    callers.set(metadata, agent);
  });

  return {
    interceptor: ({ path }, call) =>
      path === enrollPath ? admitEnrolment(call) : admitAgent(call),
    callerOf({ metadata }) {
      const certificate = callers.get(metadata);
      if (certificate === undefined) throw noCertificate();
      return certificate;
    },
  };
}

/** Calls of agents: authenticated by the certificate, authorized by the Cluster, limited in number. */
function agentAdmission(
  deps: AuthenticationDeps & Rejecting,
  onAdmitted: (metadata: Metadata, agent: AgentCertificate) => void,
) {
  const { hubId, clusters, rejections, clock } = deps;
  const limit = createCallLimit(maxCallsPerAgent);
  const queue = createEventLoopQueue(clock, authenticationSliceMs);

  function validate(certificate: AgentCertificate | undefined): RpcError | undefined {
    const cluster = certificate && clusters.get(clusterKey(certificate));
    return notReady(deps) ?? validateCaller({ certificate, hubId, cluster, now: clock.now() });
  }

  function limited(call: ServerInterceptingCallInterface, cluster: string): void {
    const message = "agent has too many concurrent calls";
    rejections.rejected(cluster, { reason: "concurrent_calls", fields: { cluster }, message });
    const details = `the agent has more than ${maxCallsPerAgent} concurrent calls; end some of them first`;
    call.sendStatus({ code: status.RESOURCE_EXHAUSTED, details });
  }

  return function admit(call: ServerInterceptingCallInterface): ServerInterceptingCall {
    let release = (): void => undefined;

    function authenticate(peer: PeerCertificate, metadata: Metadata, proceed: () => void): void {
      const certificate = parseAgentCertificate(peer);
      const error = validate(certificate);
      if (error !== undefined || certificate === undefined) {
        deps.reject(call, error ?? noCertificate());
        return;
      }
      const cluster = clusterKey(certificate);
      const acquired = limit.acquire(cluster);
      if (acquired === undefined) {
        limited(call, cluster);
        return;
      }
      release = acquired;
      deps.connections.authenticated(call.getPeer());
      onAdmitted(metadata, certificate);
      proceed();
    }

    return new ServerInterceptingCall(call, {
      start(next) {
        next({
          onReceiveMetadata(metadata, proceed) {
            // Never the socket's own peer certificate, which is set for unverified ones too. Read at once: after the
            // socket has ended it is not available.
            const { sslPeerCertificate: peer } = call.getAuthContext();
            if (peer === undefined) deps.reject(call, notReady(deps) ?? noCertificate());
            else release = queue.add(() => authenticate(peer, metadata, () => proceed(metadata)));
          },
          // Also called when the call ends regularly.
          onCancel: () => release(),
        });
      },
    });
  };
}

function notReady({ hasSynced }: AuthenticationDeps): RpcError | undefined {
  if (hasSynced()) return undefined;
  const message = "the hub has just started and its caches have not synced yet; retry in a moment";
  return new RpcError(status.UNAVAILABLE, hubErrors.HUB_NOT_READY, message);
}

function clusterKey({ identity }: AgentCertificate): string {
  return `${identity.namespace}/${identity.name}`;
}
