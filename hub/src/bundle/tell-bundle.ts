/** Tells what became of a Bundle that is not handed out: its outcome, from which its status is made, and events. */
import type { Bundle } from "@flotilla/shared/api/bundle.ts";
import { findCondition } from "@flotilla/shared/conditions/condition.ts";
import type { AppError } from "@flotilla/shared/errors/app-error.ts";
import { done, type Result, requeueAfter } from "@flotilla/shared/kube/controller/reconcile.ts";
import type { EventRecorder } from "@flotilla/shared/kube/events/events.ts";
import { keyOf } from "@flotilla/shared/kube/objects/object.ts";
import type { Clock } from "@flotilla/shared/time/clock.ts";
import { reportViolation } from "../policy/report-violation.ts";
import type { BundleTargeting, Outcomes } from "../status/intent.ts";

export interface TellBundleDeps {
  readonly outcomes: Outcomes;
  readonly events: EventRecorder;
  readonly clock: Pick<Clock, "now">;
}

type Told = Pick<BundleTargeting, "error" | "pins" | "handled" | "remarks" | "isResolving">;

/** What is not told anew stays: where it goes, in which version, by which pins, and what is to be known of that. */
export function tellBundle({ outcomes }: TellBundleDeps, bundle: Bundle, told: Told): void {
  const { error: _, remarks: __, isResolving: ___, ...kept } = lastTold(outcomes, bundle);
  outcomes.bundles.set(keyOf(bundle), {
    ...kept,
    generation: bundle.metadata.generation ?? 0,
    waiting: 0,
    ...told,
  });
}

/**
 * Of a Bundle of which nothing can be told until something else is written: what was told of it last. Who leads anew has it
 * from the status, so that what is told of its deployments goes on meanwhile.
 */
export function tellAsBefore({ outcomes }: TellBundleDeps, bundle: Bundle): void {
  outcomes.bundles.set(keyOf(bundle), lastTold(outcomes, bundle));
}

function lastTold(outcomes: Outcomes, bundle: Bundle): BundleTargeting {
  const { observedGeneration = 0, summary } = bundle.status ?? {};
  return (
    outcomes.bundles.get(keyOf(bundle)) ?? {
      generation: observedGeneration,
      targets: summary?.desiredReady ?? 0,
      waiting: 0,
    }
  );
}

/** Nothing is handed out; what is deployed stays. */
export function tellHeld(
  deps: TellBundleDeps,
  bundle: Bundle,
  { error, retryMs }: { readonly error: AppError; readonly retryMs?: number },
  told: Pick<Told, "pins" | "handled" | "remarks">,
): Result {
  if (retryMs === undefined) {
    tellBundle(deps, bundle, { ...told, error: error.message });
    return done();
  }
  const next = new Date(deps.clock.now() + retryMs).toISOString().slice(0, 19);
  tellBundle(deps, bundle, {
    ...told,
    error: `${error.message}; it is tried again at ${next}Z`,
  });
  return requeueAfter(retryMs, "resolve");
}

/** As an event, where a Policy refuses it. */
export function reportRefusal(deps: TellBundleDeps, bundle: Bundle, error: AppError): void {
  const told = deps.outcomes.bundles.get(keyOf(bundle));
  reportViolation(deps.events, bundle, error, {
    told: told && { generation: told.generation, message: told.error ?? "" },
    condition: findCondition(bundle.status?.conditions, "Ready"),
  });
}
