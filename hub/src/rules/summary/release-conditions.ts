/** The conditions of releases, with Flux's types, summed up over the deployments of a Bundle. Pure. */

import type { ReleaseCondition } from "@flotilla/proto";
import type { BundleDeployment, Condition } from "@flotilla/shared/api";
import type { NewCondition } from "@flotilla/shared/conditions";
import { fluxType } from "@flotilla/shared/flux/reasons";
import type { ObjectKey } from "@flotilla/shared/kube/objects";
import { cutText } from "@flotilla/shared/text";
import type { SortedKeys } from "./sorted-keys.ts";

/** What agents report of a release, except what says whether it is worked on (`stalled.ts`). */
type SummedType = Exclude<
  ReleaseCondition["type"],
  typeof fluxType.reconciling | typeof fluxType.stalled
>;

/** By type the statuses, those that need attention first: one of them decides the sum. */
const precedence = {
  [fluxType.released]: ["False", "Unknown", "True"],
  [fluxType.testSuccess]: ["False", "Unknown", "True"],
  [fluxType.remediated]: ["True", "False"],
  [fluxType.drifted]: ["True", "False"],
} as const satisfies Readonly<Record<SummedType, readonly Condition["status"][]>>;

/** The types of the conditions that a Bundle has for all of its deployments. */
export const summedConditionTypes: readonly string[] = Object.keys(precedence);

const messageChars = 512;

/** As an aggregate counts them. */
export function releaseConditionKeys({ status }: BundleDeployment): readonly string[] {
  return (status?.conditions ?? []).flatMap(({ type, status }) =>
    summedConditionTypes.includes(type) ? [releaseConditionKey(type, status)] : [],
  );
}

export interface ReleaseConditionInput {
  readonly aggregate: {
    readonly total: number;
    readonly conditions: ReadonlyMap<string, SortedKeys>;
  };
  readonly lookUp: (key: ObjectKey) => BundleDeployment | undefined;
  /** The cluster of a deployment. */
  readonly nameOf: (deployment: BundleDeployment) => string;
}

/** Those that no cluster has are absent. */
export function releaseConditions(input: ReleaseConditionInput): readonly NewCondition[] {
  return Object.entries(precedence).flatMap(([type, statuses]) => {
    for (const status of statuses) {
      const condition = sumOf(type, status, input);
      if (condition !== undefined) return [condition];
    }
    return [];
  });
}

/** The status that decides the sum of a type; undefined: no cluster has it. */
export function decidingStatus(
  type: SummedType,
  { conditions }: { readonly conditions: ReadonlyMap<string, SortedKeys> },
): Condition["status"] | undefined {
  const statuses: readonly Condition["status"][] = precedence[type];
  return statuses.find(
    (status) => (conditions.get(releaseConditionKey(type, status))?.size ?? 0) > 0,
  );
}

function sumOf(
  type: string,
  status: Condition["status"],
  { aggregate, lookUp, nameOf }: ReleaseConditionInput,
): NewCondition | undefined {
  const keys = aggregate.conditions.get(releaseConditionKey(type, status));
  const [key] = keys?.first(1) ?? [];
  const deployment = key === undefined ? undefined : lookUp(key);
  const example = deployment?.status?.conditions?.find((each) => each.type === type);
  if (keys === undefined || deployment === undefined || example === undefined) return undefined;
  const message = cutText(`${nameOf(deployment)}: ${example.message ?? ""}`, messageChars);
  const count = `${keys.size} of ${aggregate.total} clusters`;
  return {
    type,
    status,
    reason: example.reason ?? "",
    message: `${count}; ${message}`,
  };
}

/** Under which an aggregate has the deployments with a condition. */
export function releaseConditionKey(type: string, status: string): string {
  return `${type}=${status}`;
}
