/** Tells what became of a Bundle that is not handed out: its outcome, from which its status is made, and events. */
import type { Bundle } from "@flotilla/shared/api/bundle.ts";
import type { Clock } from "@flotilla/shared/clock/clock.ts";
import { findCondition } from "@flotilla/shared/conditions/condition.ts";
import type { AppError } from "@flotilla/shared/errors/app-error.ts";
import type { EventRecorder } from "@flotilla/shared/kube/events.ts";
import { keyOf } from "@flotilla/shared/kube/object.ts";
import { done, type Outcome, requeueAfter } from "@flotilla/shared/kube/outcome.ts";
import { reportViolation } from "../policy/report-violation.ts";
import type { BundleTargeting, Outcomes } from "../status/intent.ts";

export interface TellBundleDeps {
  readonly outcomes: Outcomes;
  readonly events: EventRecorder;
  readonly clock: Pick<Clock, "now">;
}

type Told = Pick<BundleTargeting, "error" | "pins" | "handled" | "remarks" | "isResolving">;

/** What is not told anew stays: where it goes, in which version, by which pins. */
export function tellBundle({ outcomes }: TellBundleDeps, bundle: Bundle, told: Told): void {
  const key = keyOf(bundle);
  const { targets = 0, version, pins, handled } = outcomes.bundles.get(key) ?? {};
  outcomes.bundles.set(key, {
    generation: bundle.metadata.generation ?? 0,
    targets,
    waiting: 0,
    ...(version !== undefined && { version }),
    ...(pins !== undefined && { pins }),
    ...(handled !== undefined && { handled }),
    ...told,
  });
}

/** Nothing is handed out; what is deployed stays. */
export function tellHeld(
  deps: TellBundleDeps,
  bundle: Bundle,
  { error, retryMs }: { readonly error: AppError; readonly retryMs?: number },
  told: Pick<Told, "pins" | "handled" | "remarks">,
): Outcome {
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
