/** The controller that rotates the hub's certificate authority, one write at a time; on the leader. */

import type { KubeRest } from "@flotilla/shared/kube/client";
import {
  createController,
  type Reconcile,
  type Result,
  requeueAfter,
} from "@flotilla/shared/kube/controller";
import type { EventRecorder } from "@flotilla/shared/kube/events";
import { keyOf, refOf, type Secret, secrets } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import { type Clock, formatTimeMs } from "@flotilla/shared/time";
import type { Registry } from "prom-client";
import { createAuthority, openAuthority } from "./certificate-authority.ts";
import type { LiveAuthority } from "./live-authority.ts";
import { planRotation, type RotationStep, rotationTimes, takeStep } from "./plan-rotation.ts";
import { readRecord, withRecord } from "./record.ts";

export interface RotationDeps {
  /** Rejects writes after the leadership is lost. */
  readonly rest: KubeRest;
  readonly authority: Pick<LiveAuthority, "secret">;
  /** Lifetime of agents' certificates, as observed by this replica. */
  readonly lifetimeMs: number;
  readonly events: EventRecorder;
  readonly clock: Clock;
}

export interface RotationControllerDeps extends RotationDeps {
  readonly authority: Pick<LiveAuthority, "secret" | "onChange" | "onDeleted">;
  readonly log: Log;
  readonly metrics: Registry;
}

/** Runs until `signal` aborts. */
export async function runRotationController(
  deps: RotationControllerDeps,
  signal: AbortSignal,
): Promise<void> {
  const { authority, log, metrics, clock } = deps;
  const key = keyOf(authority.secret);
  const reconcile = rotationReconciler(deps);
  const controller = createController({ name: "authority", reconcile, log, metrics, clock });
  const enqueue = (): void => controller.enqueue(key);
  const stops = [authority.onChange(enqueue), authority.onDeleted(enqueue)];
  enqueue();
  await controller.run(signal);
  for (const stop of stops) stop();
}

/** Resynced at least this often; longer timers overflow. */
const longestWaitMs = 24 * 3_600_000;

/** Keyed by the authority's Secret. */
export function rotationReconciler(deps: RotationDeps): Reconcile {
  const { rest, authority, lifetimeMs, events, clock } = deps;

  return async function reconcile(key, { signal, log }) {
    const secret = await rest.get(secrets, refOf(key), { signal });
    if (secret === undefined) return restore(log, signal);
    const record = readRecord(secret);
    const { phase, signing } = record;
    // An invalid authority is an error here, before anything is built on it.
    for (const pair of phase.kind === "introducing" ? [signing, phase.next] : [signing]) {
      await openAuthority(pair, () => clock.now());
    }
    const now = clock.now();
    const step = planRotation({ record, now, lifetimeMs });
    if (step.kind === "wait") return requeue(step.ms);
    const made = await createAuthority(now);
    const next = takeStep(record, step, { created: made, now });
    // With the resourceVersion that was read: of two leaders one gets a conflict.
    const written = await rest.replace(secrets, withRecord(secret, next), { signal });
    announce(written, step, log);
    const then = planRotation({ record: next, now, lifetimeMs });
    return requeue(then.kind === "wait" ? then.ms : 0);
  };

  /** Without the Secret the next process would create another authority, which no agent trusts. */
  async function restore(log: Log, signal: AbortSignal): Promise<Result> {
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
    log.warn("the Secret of the hub's authority was deleted; restored it");
    const note = "the Secret was deleted and is restored: without it no agent would trust this hub";
    events.record(made, { type: "Warning", reason: "AuthorityDeleted", action: "Restore", note });
    return requeue(0);
  }

  function announce(secret: Secret, step: Exclude<RotationStep, { kind: "wait" }>, log: Log): void {
    const { lifetimeMs: recorded = lifetimeMs } = readRecord(secret);
    const event = eventFor(step, rotationTimes(recorded), clock.now());
    if (event === undefined) return;
    const { type, reason, note } = event;
    log[type === "Warning" ? "warn" : "info"]({ step: step.kind, note }, "authority rotates");
    events.record(secret, { type, reason, action: "Rotate", note });
  }
}

function requeue(waitMs: number): Result {
  return requeueAfter(Math.min(longestWaitMs, waitMs), "the next step of the rotation");
}

interface RotationEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly note: string;
}

function eventFor(
  step: Exclude<RotationStep, { kind: "wait" }>,
  times: ReturnType<typeof rotationTimes>,
  now: number,
): RotationEvent | undefined {
  const at = (inMs: number): string => formatTimeMs(now + inMs);
  switch (step.kind) {
    case "introduce":
      return {
        type: "Normal",
        reason: "AuthorityIntroduced",
        note: `a new authority is trusted beside the current one (${step.why}); it signs from ${at(times.introduceMs)} on`,
      };
    case "switch":
      return {
        type: "Normal",
        reason: "AuthoritySwitched",
        note: `the new authority signs; the previous one is trusted until ${at(times.retireMs)}; copy Secrets of registration tokens again: older copies no longer enrol a new cluster`,
      };
    case "retire":
      return {
        type: "Normal",
        reason: "AuthorityRetired",
        note: "the rotation is complete; an agent that was not connected since it started needs a new bootstrap Secret",
      };
    case "replace":
      return {
        type: "Warning",
        reason: "AuthorityReplaced",
        note: "the authority had expired and was replaced at once; every agent needs a new bootstrap Secret",
      };
    case "stamp":
      return undefined;
  }
}
