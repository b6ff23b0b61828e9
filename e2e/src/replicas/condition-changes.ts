/** What became of an object's conditions between one time that it was told of and the next. Pure. */
import type { Condition } from "@flotilla/shared/api";
import { findCondition } from "@flotilla/shared/conditions";

export interface ConditionChange {
  readonly type: string;
  /** Status and reason; `absent` while there is no such condition. */
  readonly before: string;
  readonly after: string;
  /** Whether somebody has changed the object's spec since the generation that the condition spoke of before. */
  readonly hasNewSpec: boolean;
}

export interface WithConditions {
  readonly metadata: { readonly generation?: number | undefined };
  readonly status?: { readonly conditions?: readonly Condition[] | undefined } | undefined;
}

/** One for each time that a condition came, went or got another status or reason. Of no conditions at all all are absent. */
export function conditionChanges(history: readonly WithConditions[]): readonly ConditionChange[] {
  return history.slice(1).flatMap((object, index) => {
    const before = history[index]?.status?.conditions;
    const after = object.status?.conditions;
    const types = new Set([...(before ?? []), ...(after ?? [])].map(({ type }) => type));
    return [...types]
      .map((type) => ({
        type,
        before: said(before, type),
        after: said(after, type),
        hasNewSpec:
          (object.metadata.generation ?? 0) >
          (findCondition(before, type)?.observedGeneration ?? 0),
      }))
      .filter((change) => change.before !== change.after);
  });
}

function said(conditions: readonly Condition[] | undefined, type: string): string {
  const condition = findCondition(conditions, type);
  return condition === undefined ? "absent" : `${condition.status} ${condition.reason ?? ""}`;
}
