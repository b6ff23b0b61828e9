/** What happens to one object, and what of it goes into the digests of the plan. Pure. */
import { createHash } from "node:crypto";
import { canonicalJson } from "@flotilla/shared/json";
import type { PlanRemark } from "@flotilla/shared/plan";
import { type DriftObject, segmentsOf } from "../../observe/index.ts";
import { type FieldChange, isGenerated } from "./field-changes.ts";
import { digestible, type Masking } from "./masking.ts";

/** `keep`: the new manifest does not have it, and Helm leaves it. */
export type PlannedAction = "none" | "create" | "update" | "replace" | "delete" | "keep" | "fails";

export interface PlannedObject {
  readonly object: DriftObject;
  readonly action: PlannedAction;
  /** Hex: over what happens. */
  readonly digest: string;
  /** Hex: over what happens without values, and without what is named after the cluster. */
  readonly shape: string;
  readonly remarks: readonly PlanRemark[];
  /** Only with `fails`, for people. */
  readonly why?: string;
  /** Its header, and the lines that differ; empty: nothing happens, or the text is not wanted. */
  readonly text: string;
}

/** What the digests are made from. */
export interface ObjectChange {
  readonly object: DriftObject;
  readonly action: PlannedAction;
  readonly changes: readonly FieldChange[];
  readonly generated: readonly string[];
  readonly hasGeneratedName: boolean;
  readonly why?: string | undefined;
}

/** In place of a name that the next rendering would not have. */
const anyName = "*";

export function digestOf(change: ObjectChange, masking: Masking): string {
  const { object, action, changes, generated, hasGeneratedName, why } = change;
  const { apiVersion, kind, namespace, name } = object;
  const part = (value: unknown, pointer: string): unknown =>
    digestible(value, { object, segments: segmentsOf(pointer), generated }, masking);
  return sha256({
    apiVersion,
    kind,
    action,
    ...(namespace !== undefined && { namespace }),
    name: hasGeneratedName ? anyName : name,
    ...(why !== undefined && { why }),
    changes: changes
      .filter(({ pointer }) => !isGenerated(pointer, generated))
      .map(({ pointer, before, after }) => ({
        pointer,
        ...(before !== undefined && { before: part(before, pointer) }),
        ...(after !== undefined && { after: part(after, pointer) }),
      })),
  });
}

/** `own`: texts that are the cluster's own, such as its name. */
export function shapeOf(
  { object, action, changes, generated, hasGeneratedName }: ObjectChange,
  own: readonly string[],
): string {
  const { kind, name } = object;
  return sha256({
    kind,
    action,
    name: hasGeneratedName ? anyName : withoutOwn(name, own),
    paths: changes
      .map(({ pointer }) => pointer)
      .filter((pointer) => !isGenerated(pointer, generated)),
  });
}

function withoutOwn(name: string, own: readonly string[]): string {
  return own.reduce((text, each) => (each === "" ? text : text.replaceAll(each, anyName)), name);
}

export function sha256(value: unknown): string {
  return createHash("sha256").update(canonicalJson(value)).digest("hex");
}
