/** The changes of an object's conditions between consecutive states. Pure. */
import type { Condition } from "@flotilla/shared/api";
import { findCondition } from "@flotilla/shared/conditions";
import type { WithConditions } from "../harness/wait.ts";

export interface ConditionChange {
  readonly type: string;
  /** Status and reason; `absent` while there is no such condition. */
  readonly before: string;
  readonly after: string;
  /** Whether the spec has changed since the generation of the condition before. */
  readonly hasNewSpec: boolean;
}

/** One for each time that a condition was added, removed or got another status or reason. */
export function conditionChanges(history: readonly WithConditions[]): readonly ConditionChange[] {
  return history.slice(1).flatMap((object, index) => {
    const before = history[index]?.status?.conditions;
    const after = object.status?.conditions;
    const types = new Set([...(before ?? []), ...(after ?? [])].map(({ type }) => type));
    return [...types]
      .map((type) => ({
        type,
        before: statusOf(before, type),
        after: statusOf(after, type),
        hasNewSpec:
          (object.metadata.generation ?? 0) >
          (findCondition(before, type)?.observedGeneration ?? 0),
      }))
      .filter((change) => change.before !== change.after);
  });
}

function statusOf(conditions: readonly Condition[] | undefined, type: string): string {
  const condition = findCondition(conditions, type);
  return condition === undefined ? "absent" : `${condition.status} ${condition.reason ?? ""}`;
}
