/** What the rules of readiness read of an object, and what they come to. Pure. */
import type { Condition } from "@flotilla/shared/kube/objects/core-resources.ts";
import type { KubeObject } from "@flotilla/shared/kube/objects/object.ts";
import { z } from "zod";

export type ObjectStatus =
  | { readonly kind: "current" }
  /** It may become current by itself. */
  | { readonly kind: "inProgress"; readonly message: string }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "terminating"; readonly message: string };

type Fields = Readonly<Record<string, unknown>>;

/** An object whose parts are there; what they hold is still to be looked at. */
export interface Judged {
  readonly generation: number;
  readonly spec: Fields;
  readonly status: Fields;
  readonly conditions: readonly Condition[];
}

const conditionSchema = z.object({
  type: z.string(),
  status: z.enum(["True", "False", "Unknown"]),
  reason: z.string().optional().catch(undefined),
  message: z.string().optional().catch(undefined),
});

export function toJudged(object: KubeObject): Judged {
  const status = fieldsOf(Reflect.get(object, "status"));
  const conditions = Array.isArray(status["conditions"]) ? status["conditions"] : [];
  return {
    generation: object.metadata.generation ?? 0,
    spec: fieldsOf(Reflect.get(object, "spec")),
    status,
    conditions: conditions.flatMap((condition: unknown) => {
      const { data } = conditionSchema.safeParse(condition);
      return data === undefined ? [] : [data as Condition];
    }),
  };
}

export function conditionOf({ conditions }: Judged, type: string): Condition | undefined {
  return conditions.find((condition) => condition.type === type);
}

export function numberOf(fields: Fields, name: string, absent = 0): number {
  const value = fields[name];
  return typeof value === "number" ? value : absent;
}

export function textOf(fields: Fields, name: string): string {
  const value = fields[name];
  return typeof value === "string" ? value : "";
}

export function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Fields) // An object that is neither null nor a list has fields.
    : {};
}

export function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}

/** Whether the controller has seen the latest change of the object. */
export function isObserved({ generation, status }: Judged): boolean {
  return numberOf(status, "observedGeneration") >= generation;
}

/** Said the same way as long as nothing that a reader would care about has changed. */
export function waiting(message: string): ObjectStatus {
  return { kind: "inProgress", message };
}

export const current: ObjectStatus = { kind: "current" };
