/** Reads and sets conditions. Pure: lists are never changed in place. */

import { cutText } from "../../text/text/index.ts";
import type { Condition } from "../objects/index.ts";

/** A condition without its times, which `setCondition` adds. */
export interface NewCondition {
  readonly type: string;
  readonly status: Condition["status"];
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly observedGeneration?: number | undefined;
}

/** The limit of a message in characters, so that a message of a chart or a server does not make a status large. */
export const maxMessageLength = 8 * 1024;

export function findCondition(
  conditions: readonly Condition[] | undefined,
  type: string,
): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/**
 * The list with this condition, ordered by type. `lastTransitionTime` changes with the status only. Returns the same list (by
 * `===`) when nothing changed. `now` is RFC 3339.
 */
export function setCondition(
  conditions: readonly Condition[] | undefined,
  desired: NewCondition,
  now: string,
): readonly Condition[] {
  const before = findCondition(conditions, desired.type);
  const after = timed(desired, before, now);
  if (conditions !== undefined && after === before) return conditions;
  const others = (conditions ?? []).filter((condition) => condition.type !== desired.type);
  return [...others, after].sort((a, b) => (a.type < b.type ? -1 : 1));
}

/** The list with all these conditions; conditions of other types stay. */
export function setConditions(
  conditions: readonly Condition[],
  desired: readonly NewCondition[],
  now: string,
): readonly Condition[] {
  return desired.reduce<readonly Condition[]>(
    (list, condition) => setCondition(list, condition, now),
    conditions,
  );
}

/** The condition with its times; the earlier one itself when they are equal. */
function timed(desired: NewCondition, before: Condition | undefined, now: string): Condition {
  const { type, status, reason = "", observedGeneration } = desired;
  const message = shortened(desired.message ?? "");
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

/** A message within the limit; one that is cut says how long it was. */
function shortened(message: string): string {
  if (message.length <= maxMessageLength) return message;
  const note = ` (${message.length} characters in all)`;
  return cutText(message, maxMessageLength - note.length) + note;
}
