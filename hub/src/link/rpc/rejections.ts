/** Rejected requests and messages of agents: each one counted, and logged once a minute for each agent and reason. */

import { createKeyedRateLimiter } from "@flotilla/shared/concurrency";
import { messageOf } from "@flotilla/shared/errors";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import { Counter, type Registry } from "prom-client";

/** The label of the metric. */
export type RejectionReason =
  /** No certificate, or one that is not valid here. */
  | "certificate"
  /** More concurrent calls than an agent needs. */
  | "concurrent_calls"
  /** More connections than an agent that backs off makes. */
  | "connection_rate"
  | "enrolment"
  /** A connection that was closed before its TLS handshake, because others come first. */
  | "handshake"
  | "renewal_rate"
  /** What the contract of the wire does not allow. */
  | "protocol_violation"
  /** A report on a deployment that the cluster does not have. */
  | "unknown_deployment"
  /** A confirmed withdrawal of a deployment that is not being deleted. */
  | "deployment_not_deleted";

export interface Rejection {
  readonly reason: RejectionReason;
  /** The fields of the log line, beside the reason. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Constant. */
  readonly message: string;
}

export interface Rejections {
  /** `peer`: the Cluster, or the address if the Cluster is unknown. */
  rejected(peer: string, rejection: Rejection): void;
  /** Counts one that is logged elsewhere. */
  count(reason: RejectionReason): void;
  /** A failure of the hub: not a rejection, but logged at the same rate. */
  failed(peer: string, thrown: unknown, failure: Omit<Rejection, "reason">): void;
}

export interface RejectionsDeps {
  readonly metrics: Registry;
  readonly clock: Clock;
  readonly log: Log;
}

export function createRejections({ metrics, clock, log }: RejectionsDeps): Rejections {
  const counter = new Counter({
    name: "flotilla_hub_rejected_total",
    help: "Rejected requests and messages of agents, by reason.",
    labelNames: ["reason"],
    registers: [metrics],
  });
  const lines = createKeyedRateLimiter({ clock, perSecond: 1 / 60, burst: 1 });

  function count(reason: RejectionReason): void {
    counter.inc({ reason });
  }

  return {
    count,
    rejected(peer, { reason, fields, message }) {
      count(reason);
      if (lines.take(`${peer} ${reason}`)) log.warn({ ...fields, reason }, message);
    },
    failed(peer, thrown, { fields, message }) {
      if (lines.take(`${peer} ${message}`))
        log.warn({ ...fields, err: messageOf(thrown) }, message);
    },
  };
}

/** The address of grpc-js's `getPeer()` without its port, which differs for each connection. */
export function hostOf(peer: string): string {
  const colon = peer.lastIndexOf(":");
  return colon < 0 ? peer : peer.slice(0, colon);
}
