/**
 * Plans the next step of a rotation of the hub's authority. Pure.
 *
 * A rotation waits twice, each time for the longest validity of an agent's certificate, so that neither wait depends on which
 * agents are connected:
 * - The next authority is trusted, and sent to agents, before it signs anything.
 * - The previous one is trusted until the last certificate that it signed has expired.
 */

import { X509Certificate } from "node:crypto";
import { formatTimeMs } from "@flotilla/shared/time";
import type { StoredAuthority } from "./certificate-authority.ts";
import type { AuthorityRecord } from "./record.ts";

export interface RotationTimes {
  /** The oldest state of the Secret by which a replica may sign. */
  readonly freshMs: number;
  /** How long the next authority is trusted before it signs. */
  readonly introduceMs: number;
  /** How long the previous one is trusted after it has signed for the last time. */
  readonly retireMs: number;
}

/** The slack covers stale replicas and clock skew. */
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
  /** Create the next authority and trust it. */
  | { readonly kind: "introduce"; readonly why: string }
  /** The start of the phase is unknown: record now. */
  | { readonly kind: "stamp" }
  /** The next authority signs from now on. */
  | { readonly kind: "switch" }
  /** The previous one is no longer trusted. */
  | { readonly kind: "retire" }
  /** The authority has expired: no agent can get another one before it signs. */
  | { readonly kind: "replace" };

export interface RotationInputs {
  readonly record: AuthorityRecord;
  /** ms since 1970. */
  readonly now: number;
  /** Used when the record has no validity. */
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
        return { kind: "introduce", why: "requested" };
      }
      const dueAt = notAfter - (notAfter - notBefore) / 5;
      return dueAt <= now
        ? { kind: "introduce", why: `the authority expires at ${formatTimeMs(notAfter)}` }
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
  // A start in the future was recorded by a wrong clock.
  if (since === undefined || since > now + afterMs) return { kind: "stamp" };
  return since + afterMs <= now ? step : { kind: "wait", ms: since + afterMs - now };
}

/** The record after a step. `created`: a new authority, for the steps that need one. */
export function takeStep(
  record: AuthorityRecord,
  step: Exclude<RotationStep, { kind: "wait" }>,
  { created, now }: { readonly created: StoredAuthority; readonly now: number },
): AuthorityRecord {
  const { phase, signing, request: handled } = record;
  switch (step.kind) {
    case "introduce":
      return { ...record, handled, phase: { kind: "introducing", next: created, since: now } };
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
      return { ...record, handled, signing: created, phase: { kind: "steady" } };
  }
}

/** The validity of a certificate, ms since 1970. */
export function validityOf(certificatePem: string): {
  readonly notBefore: number;
  readonly notAfter: number;
} {
  const { validFromDate, validToDate } = new X509Certificate(certificatePem);
  return { notBefore: validFromDate.getTime(), notAfter: validToDate.getTime() };
}
