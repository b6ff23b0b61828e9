/** Reading and setting conditions. Pure: lists are never changed in place. */
import type { Condition } from "../api/condition.ts";

/** What a loop has to say; the times are added here. */
export interface NewCondition {
  readonly type: string;
  readonly status: Condition["status"];
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly observedGeneration?: number | undefined;
}

/** Longest message, in characters, so that a status stays small whatever a chart or a server has to say. */
export const maxMessageLength = 8 * 1024;

export function findCondition(
  conditions: readonly Condition[] | undefined,
  type: string,
): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/**
 * The list with this condition in it, ordered by type. `lastTransitionTime` stays while the status does. When nothing
 * would change it is the very same list, so that `===` tells whether there is something to write. `now` is RFC 3339.
 */
export function setCondition(
  conditions: readonly Condition[] | undefined,
  wanted: NewCondition,
  now: string,
): readonly Condition[] {
  const before = findCondition(conditions, wanted.type);
  const after = timed(wanted, before, now);
  if (conditions !== undefined && after === before) return conditions;
  const others = (conditions ?? []).filter((condition) => condition.type !== wanted.type);
  return [...others, after].sort((a, b) => (a.type < b.type ? -1 : 1));
}

/** The list with all these conditions in it; those that it has of other types stay. */
export function setConditions(
  conditions: readonly Condition[],
  wanted: readonly NewCondition[],
  now: string,
): readonly Condition[] {
  return wanted.reduce<readonly Condition[]>(
    (list, condition) => setCondition(list, condition, now),
    conditions,
  );
}

/** The condition with its times; the earlier one itself where they say the same. */
function timed(wanted: NewCondition, before: Condition | undefined, now: string): Condition {
  const { type, status, reason = "", observedGeneration } = wanted;
  const message = shortened(wanted.message ?? "");
  if (
    before?.status === status &&
    (before.reason ?? "") === reason &&
    (before.message ?? "") === message &&
    before.observedGeneration === observedGeneration
  ) {
    return before;
  }
  return {
    type,
    status,
    reason,
    message,
    ...(observedGeneration !== undefined && { observedGeneration }),
    lastTransitionTime: before?.status === status ? (before.lastTransitionTime ?? now) : now,
    lastUpdateTime: now,
  };
}

/** A message that fits; one that is cut says so and how much is missing. */
function shortened(message: string): string {
  if (message.length <= maxMessageLength) return message;
  const note = ` … (${message.length} characters in all)`;
  // A pair of surrogates is kept or dropped as a whole: half of one is not valid UTF-8.
  return message.slice(0, maxMessageLength - note.length).replace(/[\uD800-\uDBFF]$/, "") + note;
}
