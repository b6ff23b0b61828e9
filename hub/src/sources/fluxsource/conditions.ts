/** Conditions in the order of Flux; a transition is a change of status, as in Kubernetes. Pure. */

import type { Condition } from "@flotilla/shared/api";
import {
  maxConditionMessageLength,
  type FluxCondition as StoredCondition,
} from "@flotilla/shared/flux";
import { fluxType } from "@flotilla/shared/flux/reasons";
import { cutText } from "@flotilla/shared/text";

export interface FluxCondition {
  readonly type: string;
  readonly status: Condition["status"];
  readonly reason: string;
  readonly message: string;
}

/** They stand first, in this order. */
const first: readonly string[] = [fluxType.stalled, fluxType.reconciling, fluxType.ready];

/** `desired`, with the times of those that had the same status before, since when it is so; all others are gone. */
export function fluxConditions(
  before: readonly Condition[] | undefined,
  desired: readonly FluxCondition[],
  { generation, now }: { readonly generation: number; readonly now: string },
): readonly StoredCondition[] {
  const next = desired.map((condition): StoredCondition => {
    const message = cutText(condition.message, maxConditionMessageLength);
    const known = before?.find(({ type }) => type === condition.type);
    // A message names the time of the next attempt: it changes at each one, while the failure is as old as before.
    const isSame = known?.status === condition.status;
    const lastTransitionTime = (isSame ? known.lastTransitionTime : undefined) ?? now;
    return { ...condition, message, observedGeneration: generation, lastTransitionTime };
  });
  return next.toSorted((a, b) => rank(a) - rank(b) || (a.type < b.type ? -1 : 1));
}

function rank({ type }: Pick<Condition, "type">): number {
  const at = first.indexOf(type);
  return at < 0 ? first.length : at;
}

/** The conditions with one of them replaced; the others keep their generation. */
export function withFluxCondition<C extends Condition>(
  before: readonly C[] | undefined,
  condition: FluxCondition,
  at: { readonly generation: number; readonly now: string },
): readonly (C | StoredCondition)[] {
  const others = (before ?? []).filter(({ type }) => type !== condition.type);
  const next = [...others, ...fluxConditions(before, [condition], at)];
  return next.toSorted((a, b) => rank(a) - rank(b) || (a.type < b.type ? -1 : 1));
}
