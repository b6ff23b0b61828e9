/** The one door of the hub's port: whoever is not let through here reaches no handler, except to enrol. */
import type { PeerCertificate } from "node:tls";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import type { Store } from "@flotilla/shared/kube/cache/store.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import type { Clock } from "@flotilla/shared/time/clock.ts";
import {
  type Metadata,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  status,
} from "@grpc/grpc-js";
import { tooManyEnrolments } from "../enroll/errors.ts";
import {
  type AgentCertificate,
  certificateOf,
  refusalOf,
  withoutCertificate,
} from "./agent-certificate.ts";
import { createDoorway } from "./doorway.ts";
import { RpcError, serveErrors } from "./errors.ts";
import { createOpenCalls } from "./open-calls.ts";
import { hostOf } from "./peer.ts";
import { createRateLimit } from "./rate-limit.ts";
import type { Refusals } from "./refusals.ts";
import { createTurns } from "./turns.ts";

/**
 * Of one agent at the same time, over all its connections: its stream, a renewal, and streams that were cut off and of
 * which the hub does not know yet. What a stream that nobody reads holds in memory lasts as long as its connection.
 */
const mostCalls = 16;
/** A request to enrol is one small message. */
const longestRequestMs = 10_000;
/** In one turn of the event loop, for all calls of agents that wait to be let in. */
const longestJudgingMs = 10;
/** Before the connection is ended. */
const toReadAnswerMs = 1_000;

export interface AuthenticateDeps {
  readonly hubId: string;
  readonly clusters: Store<Cluster>;
  /** Whether the hub knows the fleet; before, it answers nobody. */
  readonly hasSynced: () => boolean;
  /** The path of the one method that needs no certificate. */
  readonly enrollPath: string;
  /** Ends the connection of that address (`getPeer`). */
  readonly drop: (peer: string) => void;
  readonly refusals: Refusals;
  readonly clock: Clock;
  readonly log: Log;
}

/** Lets calls in, or answers them itself. */
export interface Door {
  readonly interceptor: ServerInterceptor;
  /** Who makes a call that was let through, but for enrolments. */
  callerOf(call: { readonly metadata: Metadata }): AgentCertificate;
}

export function createDoor(deps: AuthenticateDeps): Door {
  const { hubId, clusters, hasSynced, enrollPath, drop, refusals, clock, log } = deps;
  const openCalls = createOpenCalls(mostCalls);
  const doorway = createDoorway();
  const turns = createTurns(clock, longestJudgingMs);
  /** By the object that the handler of the call gets as well: to read a certificate twice is a tenth of an agent's return. */
  const callers = new WeakMap<Metadata, AgentCertificate>();
  // An agent that is refused comes again and again; one line a minute says enough.
  const lines = createRateLimit({ clock, perSecond: 1 / 60, burst: 1 });

  function notReady(): RpcError | undefined {
    if (hasSynced()) return undefined;
    const message =
      "the hub has just started and is still reading what it knows of the fleet; try again in a moment";
    return new RpcError(status.UNAVAILABLE, serveErrors.HUB_NOT_READY, message);
  }

  function judge(certificate: AgentCertificate | undefined): RpcError | undefined {
    const name = certificate && nameOf(certificate);
    const cluster = name === undefined ? undefined : clusters.get(name);
    return refusalOf({ certificate, hubId, cluster, now: clock.now() });
  }

  function turnAway(call: ServerInterceptingCallInterface, refusal: RpcError): void {
    if (refusal.code !== serveErrors.HUB_NOT_READY.code) refusals.counted("certificate");
    const peer = call.getPeer();
    if (lines.take(`${hostOf(peer)} ${refusal.message}`))
      log.warn({ peer, code: refusal.code, err: refusal.message }, "agent was turned away");
    call.sendStatus({ code: refusal.status, details: refusal.message });
  }

  /** Of whoever has no certificate yet. */
  function enrolling(call: ServerInterceptingCallInterface): ServerInterceptingCall {
    let isOver = false;
    let said = (): void => undefined;

    async function comeIn(proceed: () => void): Promise<void> {
      const peer = call.getPeer();
      const leave = await doorway.enter(hostOf(peer));
      if (leave === undefined) {
        refusals.counted("enrolment");
        const { status: code, message: details } = tooManyEnrolments();
        call.sendStatus({ code, details });
        return;
      }
      const timer = clock.setTimeout(() => {
        // The place is taken for as long as there is something to keep.
        said = () => undefined;
        refusals.counted("enrolment");
        const details = `the request to enrol did not come within ${longestRequestMs / 1_000} s`;
        call.sendStatus({ code: status.DEADLINE_EXCEEDED, details });
        // What has come is kept for as long as the caller leaves its half of the call open.
        clock.setTimeout(() => {
          drop(peer);
          leave();
        }, toReadAnswerMs);
      }, longestRequestMs);
      said = () => {
        timer.cancel();
        leave();
      };
      if (isOver) said();
      else proceed();
    }

    return new ServerInterceptingCall(call, {
      start(next) {
        next({
          onReceiveMetadata(metadata, proceed) {
            const refusal = notReady();
            if (refusal === undefined) void comeIn(() => proceed(metadata));
            else turnAway(call, refusal);
          },
          onReceiveMessage(message, proceed) {
            said();
            proceed(message);
          },
          // Also at its good end.
          onCancel() {
            isOver = true;
            said();
          },
        });
      },
    });
  }

  /** Of agents. After a restart thousands of them call in the same moment. */
  function known(call: ServerInterceptingCallInterface): ServerInterceptingCall {
    let leave = (): void => undefined;

    function comeIn(shown: PeerCertificate, metadata: Metadata, proceed: () => void): void {
      const certificate = certificateOf(shown);
      const refusal = notReady() ?? judge(certificate);
      if (refusal !== undefined || certificate === undefined) {
        turnAway(call, refusal ?? withoutCertificate());
        return;
      }
      const who = nameOf(certificate);
      const entered = openCalls.enter(who);
      if (entered !== undefined) {
        leave = entered;
        callers.set(metadata, certificate);
        proceed();
        return;
      }
      const message = `more than ${mostCalls} calls of one agent are open; end some of them first`;
      refusals.refused(who, {
        reason: "calls",
        fields: { cluster: who },
        message: "agent has too many calls open",
      });
      call.sendStatus({ code: status.RESOURCE_EXHAUSTED, details: message });
    }

    return new ServerInterceptingCall(call, {
      start(next) {
        next({
          onReceiveMetadata(metadata, proceed) {
            // Never the socket's own idea of the peer: that one is there for unverified certificates too. It is read at once: a
            // socket that ends takes it along before its calls know.
            const { sslPeerCertificate: shown } = call.getAuthContext();
            if (shown === undefined) turnAway(call, notReady() ?? withoutCertificate());
            else leave = turns.put(() => comeIn(shown, metadata, () => proceed(metadata)));
          },
          // Also at its good end.
          onCancel: () => leave(),
        });
      },
    });
  }

  return {
    interceptor: ({ path }, call) => (path === enrollPath ? enrolling(call) : known(call)),
    callerOf({ metadata }) {
      const certificate = callers.get(metadata);
      if (certificate === undefined) throw withoutCertificate();
      return certificate;
    },
  };
}

function nameOf({ identity }: AgentCertificate): string {
  return `${identity.namespace}/${identity.name}`;
}
