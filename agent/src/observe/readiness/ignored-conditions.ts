/** Fleet's `ignore.conditions`: conditions that do not make an object unready. Pure. */
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { statusOf } from "./object-status.ts";
import {
  conditionOf,
  fieldsOf,
  isStale,
  listOf,
  type ObjectStatus,
  toRuleInput,
} from "./rules/index.ts";

/** A condition is ignored if it has all fields of one of them, with the same values. */
export type IgnoredConditions = readonly Readonly<Record<string, string>>[];

/** Conditions that say that an object is not ready unless they are True; of other kinds, Ready. */
const expectedTrue: Readonly<Record<string, readonly string[]>> = {
  "/Pod": ["Ready", "PodScheduled"],
  "apps/Deployment": ["Available", "Progressing"],
  "apiextensions.k8s.io/CustomResourceDefinition": ["Established", "NamesAccepted"],
};

/** Conditions that say so when they are True; of all kinds, Stalled and Reconciling. */
const expectedFalse: Readonly<Record<string, readonly string[]>> = {
  "apps/Deployment": ["ReplicaFailure"],
  "apps/ReplicaSet": ["ReplicaFailure"],
  "/ReplicationController": ["ReplicaFailure"],
  "batch/Job": ["Failed"],
};

/**
 * The status of an object whose unready conditions are ignored is current, also of a workload whose replicas are counted. What
 * does not depend on a condition is not ignored: a deletion, and a change that the controller has not observed.
 */
export function statusIgnoring(
  ignored: IgnoredConditions,
  { group, kind }: { readonly group: string; readonly kind: string },
  object: KubeObject,
): ObjectStatus {
  const status = statusOf(group, kind, object);
  const isReady = status.kind === "current" || status.kind === "terminating";
  if (isReady || ignored.length === 0 || isStale(toRuleInput(object))) return status;
  const groupKind = `${group}/${kind}`;
  const remaining = withoutConditions(object, ignored);
  const [before, after] = [unreadyTypes(groupKind, object), unreadyTypes(groupKind, remaining)];
  if (after.length === before.length) return status;
  return after.length === 0 ? { kind: "current" } : statusOf(group, kind, remaining);
}

function unreadyTypes(groupKind: string, object: KubeObject): readonly string[] {
  const input = toRuleInput(object);
  const mustBeTrue = expectedTrue[groupKind] ?? ["Ready"];
  const mustBeFalse = [...(expectedFalse[groupKind] ?? []), "Stalled", "Reconciling"];
  return [
    ...mustBeTrue.filter((type) => (conditionOf(input, type)?.status ?? "True") !== "True"),
    ...mustBeFalse.filter((type) => conditionOf(input, type)?.status === "True"),
  ];
}

function withoutConditions(object: KubeObject, ignored: IgnoredConditions): KubeObject {
  const status = fieldsOf(Reflect.get(object, "status"));
  const conditions = listOf(status["conditions"]).filter(
    (condition) =>
      !ignored.some((entry) =>
        Object.entries(entry).every(([field, value]) => condition[field] === value),
      ),
  );
  // The type of any object names no status.
  const changed = { ...object, status: { ...status, conditions } };
  return changed;
}
