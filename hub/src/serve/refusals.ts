/** What is refused of agents: each time counted, and told once a minute for each of them and each reason. */

import { messageOf } from "@flotilla/shared/errors/app-error.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import type { Clock } from "@flotilla/shared/time/clock.ts";
import { Counter, type Registry } from "prom-client";
import { createRateLimit } from "./rate-limit.ts";

/** As the metric has them. */
export type RefusalReason =
  /** No certificate, or none that is good here. */
  | "certificate"
  /** More calls at the same time than an agent has use for. */
  | "calls"
  /** More connections one after the other than an agent that backs off makes. */
  | "connects"
  | "enrolment"
  | "renewal"
  /** What the contract of the wire does not allow. */
  | "broken"
  | "not a deployment of this cluster"
  | "not being deleted";

export interface Refusal {
  readonly reason: RefusalReason;
  /** Told to a person beside the reason. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Constant. */
  readonly message: string;
}

export interface Refusals {
  /** `who`: the Cluster or, where nobody knows it, the address. */
  refused(who: string, refusal: Refusal): void;
  /** For what is told elsewhere. */
  counted(reason: RefusalReason): void;
  /** What the hub itself could not do for an agent: no refusal, and told as seldom. */
  failed(who: string, thrown: unknown, failure: Omit<Refusal, "reason">): void;
}

export interface RefusalsDeps {
  readonly metrics: Registry;
  readonly clock: Clock;
  readonly log: Log;
}

export function createRefusals({ metrics, clock, log }: RefusalsDeps): Refusals {
  const counter = new Counter({
    name: "flotilla_hub_refused_total",
    help: "What agents said or asked for that was refused, by reason.",
    labelNames: ["reason"],
    registers: [metrics],
  });
  const lines = createRateLimit({ clock, perSecond: 1 / 60, burst: 1 });

  function counted(reason: RefusalReason): void {
    counter.inc({ reason });
  }

  return {
    counted,
    refused(who, { reason, fields, message }) {
      counted(reason);
      if (lines.take(`${who} ${reason}`)) log.warn({ ...fields, reason }, message);
    },
    failed(who, thrown, { fields, message }) {
      if (lines.take(`${who} ${message}`)) log.warn({ ...fields, err: messageOf(thrown) }, message);
    },
  };
}
