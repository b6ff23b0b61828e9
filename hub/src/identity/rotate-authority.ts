/** Moves a rotation of the hub's authority on, one write at a time. The leader's. */

import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import type { Reconcile } from "@flotilla/shared/kube/controller/reconcile.ts";
import { type Result, requeueAfter } from "@flotilla/shared/kube/controller/reconcile.ts";
import type { EventRecorder } from "@flotilla/shared/kube/events/events.ts";
import { type Secret, secrets } from "@flotilla/shared/kube/objects/core-resources.ts";
import { refOf } from "@flotilla/shared/kube/objects/object.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import type { Clock } from "@flotilla/shared/time/clock.ts";
import { readRecord, withRecord } from "./authority-record.ts";
import { createAuthority, openAuthority } from "./certificate-authority.ts";
import type { LiveAuthority } from "./live-authority.ts";
import { planRotation, type RotationStep, rotationTimes, takeStep } from "./plan-rotation.ts";

export interface RotateAuthorityDeps {
  /** Refuses writes once the leadership is lost. */
  readonly rest: KubeRest;
  readonly authority: Pick<LiveAuthority, "secret">;
  /** Of agents' certificates, as far as this replica knows. */
  readonly lifetimeMs: number;
  readonly events: EventRecorder;
  readonly clock: Clock;
}

/** Looked at again at least this often; longer timers overflow. */
const longestWaitMs = 24 * 3_600_000;

/** The reconcile of a controller that is keyed by the authority's Secret. */
export function rotateAuthority(deps: RotateAuthorityDeps): Reconcile {
  const { rest, authority, lifetimeMs, events, clock } = deps;

  return async function reconcile(key, { signal, log }) {
    const secret = await rest.get(secrets, refOf(key), { signal });
    if (secret === undefined) return putBack(log, signal);
    const record = readRecord(secret);
    const { phase, signing } = record;
    // What cannot be used is not built upon.
    for (const pair of phase.kind === "introducing" ? [signing, phase.next] : [signing]) {
      await openAuthority(pair, () => clock.now());
    }
    const now = clock.now();
    const step = planRotation({ record, now, lifetimeMs });
    if (step.kind === "wait") return again(step.ms);
    const made = await createAuthority(now);
    const next = takeStep(record, step, { made, now });
    // With the version that was read: of two who lead, or believe so, one is refused.
    const written = await rest.replace(secrets, withRecord(secret, next), { signal });
    tell(written, step, log);
    const then = planRotation({ record: next, now, lifetimeMs });
    return again(then.kind === "wait" ? then.ms : 0);
  };

  /** Somebody deleted it. Without it the next hub would make another, which no agent knows. */
  async function putBack(log: Log, signal: AbortSignal): Promise<Result> {
    const { apiVersion, kind, type, metadata, data } = authority.secret;
    const { name, namespace, labels, annotations } = metadata;
    const made = await rest.create(
      secrets,
      {
        ...(apiVersion !== undefined && { apiVersion }),
        ...(kind !== undefined && { kind }),
        ...(type !== undefined && { type }),
        metadata: {
          name,
          ...(namespace !== undefined && { namespace }),
          ...(labels !== undefined && { labels }),
          ...(annotations !== undefined && { annotations }),
        },
        ...(data !== undefined && { data }),
      },
      { signal },
    );
    log.warn("the hub's authority was deleted, and is put back as it was");
    const note = "the Secret was deleted and is put back: without it no agent would know this hub";
    events.record(made, { type: "Warning", reason: "AuthorityDeleted", action: "Restore", note });
    return again(0);
  }

  function tell(secret: Secret, step: Exclude<RotationStep, { kind: "wait" }>, log: Log): void {
    const { lifetimeMs: recorded = lifetimeMs } = readRecord(secret);
    const said = words(step, rotationTimes(recorded), clock.now());
    if (said === undefined) return;
    const { type, reason, note } = said;
    log[type === "Warning" ? "warn" : "info"]({ step: step.kind, note }, "authority rotates");
    events.record(secret, { type, reason, action: "Rotate", note });
  }
}

function again(waitMs: number): Result {
  return requeueAfter(Math.min(longestWaitMs, waitMs), "the rotation of the authority goes on");
}

interface Words {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly note: string;
}

function words(
  step: Exclude<RotationStep, { kind: "wait" }>,
  times: ReturnType<typeof rotationTimes>,
  now: number,
): Words | undefined {
  const at = (inMs: number): string => new Date(now + inMs).toISOString();
  switch (step.kind) {
    case "introduce":
      return {
        type: "Normal",
        reason: "AuthorityIntroduced",
        note: `a new authority is trusted beside the present one (${step.why}); it signs from ${at(times.introduceMs)} on`,
      };
    case "switch":
      return {
        type: "Normal",
        reason: "AuthoritySwitched",
        note: `the new authority signs; the one of before is trusted until ${at(times.retireMs)}; Secrets of registration tokens that were copied before the rotation no longer enrol a new cluster`,
      };
    case "retire":
      return {
        type: "Normal",
        reason: "AuthorityRetired",
        note: "the rotation is complete; an agent that was not connected since it began needs a new bootstrap Secret",
      };
    case "replace":
      return {
        type: "Warning",
        reason: "AuthorityReplaced",
        note: "the authority had ended and was replaced at once: every agent needs a new bootstrap Secret",
      };
    case "stamp":
      return undefined;
  }
}
