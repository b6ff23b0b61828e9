/** Reconciles Receivers: the path of their webhook, whether they are valid, and the requests to reconcile them. */

import { fluxFinalizer } from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import { type Receiver as FluxReceiver, receivers as resource } from "@flotilla/shared/flux";
import { fluxType } from "@flotilla/shared/flux/reasons";
import type { Store } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import {
  addFinalizer,
  done,
  type Reconcile,
  removeFinalizer,
  requeueAfter,
} from "@flotilla/shared/kube/controller";
import type { EventRecorder } from "@flotilla/shared/kube/events";
import { type Clock, formatTime, parseGoDuration } from "@flotilla/shared/time";
import type { Filters } from "./filters.ts";
import { hasSpec } from "./receiver.ts";
import { judge, receiverStatus, suspendedStatus } from "./status.ts";
import type { ReferenceRules } from "./targets.ts";
import type { ReceiverSecrets } from "./tokens.ts";

export interface ReceiverReconcilerDeps extends ReferenceRules {
  readonly filters: Filters;
  readonly rest: KubeRest;
  readonly receivers: Store<FluxReceiver>;
  readonly secrets: Pick<ReceiverSecrets, "known">;
  readonly events: EventRecorder;
  readonly clock: Clock;
}

const defaultIntervalMs = 10 * 60_000;
/** Reading memory costs nothing, so an interval of nothing is not a reason to do so all the time. */
const shortestIntervalMs = 1_000;

export function receiverReconciler(deps: ReceiverReconcilerDeps): Reconcile {
  const { rest, receivers, secrets, events, clock } = deps;

  return async function reconcile(key, { signal }) {
    const found = receivers.get(key);
    if (found === undefined) return done();
    const finalizers = { rest, resource, store: receivers, finalizer: fluxFinalizer, signal };
    if (found.metadata.deletionTimestamp !== undefined) {
      await removeFinalizer(finalizers, found);
      return done();
    }
    const receiver = await addFinalizer(finalizers, found);
    if (receiver === undefined || !hasSpec(receiver)) return done();
    const { spec } = receiver;
    if (spec.suspend === true) {
      await write(receiver, suspendedStatus(receiver), signal);
      return done();
    }
    const token = (await secrets.known(receiver))?.token;
    const verdict = judge(receiver, token, deps);
    const status = receiverStatus(receiver, verdict, formatTime(clock.now()));
    await write(receiver, status, signal);
    const ready = findCondition(status?.conditions, fluxType.ready);
    const before = findCondition(receiver.status?.conditions, fluxType.ready);
    // The message is what is announced, so it is compared: one entry after the other may be invalid for the same reason.
    if (ready?.status === "False" && ready.message !== before?.message)
      events.record(receiver, {
        type: "Warning",
        reason: ready.reason ?? "",
        action: "Reconcile",
        note: ready.message ?? "",
      });
    if (verdict.kind === "invalid") return done();
    const intervalMs = parseGoDuration(spec.interval) ?? defaultIntervalMs;
    return requeueAfter(Math.max(intervalMs, shortestIntervalMs), "interval");
  };

  async function write(
    receiver: FluxReceiver,
    status: FluxReceiver["status"],
    signal: AbortSignal,
  ): Promise<void> {
    if (status === undefined || status === receiver.status) return;
    receivers.wrote(
      await rest.replace(resource, { ...receiver, status }, { subresource: "status", signal }),
    );
  }
}
