/** What became of an object's conditions between one time that it was told of and the next. Pure. */
import type { Condition } from "@flotilla/shared/api/condition.ts";
import { findCondition } from "@flotilla/shared/conditions/condition.ts";

export interface ConditionChange {
  readonly type: string;
  /** Status and reason; `absent` while there is no such condition. */
  readonly before: string;
  readonly after: string;
}

/** One for each time that a condition came, went or got another status or reason. Of no conditions at all all are absent. */
export function conditionChanges(
  history: readonly (readonly Condition[] | undefined)[],
): readonly ConditionChange[] {
  return history.slice(1).flatMap((after, index) => {
    const before = history[index];
    const types = new Set([...(before ?? []), ...(after ?? [])].map(({ type }) => type));
    return [...types]
      .map((type) => ({ type, before: said(before, type), after: said(after, type) }))
      .filter((change) => change.before !== change.after);
  });
}

function said(conditions: readonly Condition[] | undefined, type: string): string {
  const condition = findCondition(conditions, type);
  return condition === undefined ? "absent" : `${condition.status} ${condition.reason ?? ""}`;
}
