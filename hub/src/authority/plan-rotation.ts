/**
 * What is to be done next about the hub's authority. Pure.
 *
 * A rotation has two waits, both as long as the longest certificate that an agent may have, so that neither depends on
 * who is connected:
 * - The next authority is trusted, and told to agents, before it signs anything. An agent of the wire's first version hears
 *   of it only with its renewed certificate, which is by the end of that time; all others at once.
 * - The one of before is trusted until the last certificate that it signed has ended.
 */

import { X509Certificate } from "node:crypto";
import { formatTimeMs } from "@flotilla/shared/time/rfc3339.ts";
import type { StoredAuthority } from "./certificate-authority.ts";
import type { AuthorityRecord } from "./record.ts";

export interface RotationTimes {
  /** How old a replica's knowledge of the Secret may be when it signs. */
  readonly freshMs: number;
  /** How long the next authority is trusted before it signs. */
  readonly introduceMs: number;
  /** How long the one of before is trusted after it has signed for the last time. */
  readonly retireMs: number;
}

/** The slack is for what replicas do not know yet, and for clocks that differ. */
export function rotationTimes(lifetimeMs: number): RotationTimes {
  const slackMs = Math.min(10 * 60_000, lifetimeMs / 10);
  return {
    freshMs: slackMs / 10,
    introduceMs: lifetimeMs + slackMs,
    retireMs: lifetimeMs + slackMs,
  };
}

export type RotationStep =
  | { readonly kind: "wait"; readonly ms: number }
  /** Make the next authority and have it trusted. */
  | { readonly kind: "introduce"; readonly why: string }
  /** Nobody can tell when the phase began: it begins now. */
  | { readonly kind: "stamp" }
  /** The next one signs from now on. */
  | { readonly kind: "switch" }
  /** The one of before is not trusted any more. */
  | { readonly kind: "retire" }
  /** The authority has ended: nobody is left who could be told of another before it signs. */
  | { readonly kind: "replace" };

export interface RotationInputs {
  readonly record: AuthorityRecord;
  /** ms since 1970. */
  readonly now: number;
  /** Where the record does not say how long certificates are good for. */
  readonly lifetimeMs: number;
}

export function planRotation({ record, now, lifetimeMs }: RotationInputs): RotationStep {
  const { phase, signing } = record;
  const times = rotationTimes(record.lifetimeMs ?? lifetimeMs);
  const { notBefore, notAfter } = validityOf(signing.certificatePem);
  const hasEnded = notAfter <= now;
  switch (phase.kind) {
    case "steady": {
      if (hasEnded) return { kind: "replace" };
      if (record.request !== undefined && record.request !== record.handled) {
        return { kind: "introduce", why: "somebody asked for it" };
      }
      const dueAt = notAfter - (notAfter - notBefore) / 5;
      return dueAt <= now
        ? { kind: "introduce", why: `the authority ends at ${formatTimeMs(notAfter)}` }
        : { kind: "wait", ms: dueAt - now };
    }
    case "introducing":
      return hasEnded
        ? { kind: "switch" }
        : stepAt(phase.since, times.introduceMs, now, { kind: "switch" });
    case "switched":
      return stepAt(phase.since, times.retireMs, now, { kind: "retire" });
  }
}

function stepAt(
  since: number | undefined,
  afterMs: number,
  now: number,
  step: RotationStep,
): RotationStep {
  // A moment that is still to come was noted by a clock that was wrong, and would be waited for as long as it was wrong.
  if (since === undefined || since > now + afterMs) return { kind: "stamp" };
  return since + afterMs <= now ? step : { kind: "wait", ms: since + afterMs - now };
}

/** The record after a step. `made`: a new authority, for the steps that need one. */
export function takeStep(
  record: AuthorityRecord,
  step: Exclude<RotationStep, { kind: "wait" }>,
  { made, now }: { readonly made: StoredAuthority; readonly now: number },
): AuthorityRecord {
  const { phase, signing, request: handled } = record;
  switch (step.kind) {
    case "introduce":
      return { ...record, handled, phase: { kind: "introducing", next: made, since: now } };
    case "stamp":
      return phase.kind === "steady" ? record : { ...record, phase: { ...phase, since: now } };
    case "switch": {
      if (phase.kind !== "introducing") return record;
      const previousPem = signing.certificatePem;
      return {
        ...record,
        signing: phase.next,
        phase: { kind: "switched", previousPem, since: now },
      };
    }
    case "retire":
      return { ...record, phase: { kind: "steady" } };
    case "replace":
      return { ...record, handled, signing: made, phase: { kind: "steady" } };
  }
}

/** Of a certificate, ms since 1970. */
export function validityOf(certificatePem: string): {
  readonly notBefore: number;
  readonly notAfter: number;
} {
  const { validFromDate, validToDate } = new X509Certificate(certificatePem);
  return { notBefore: validFromDate.getTime(), notAfter: validToDate.getTime() };
}
