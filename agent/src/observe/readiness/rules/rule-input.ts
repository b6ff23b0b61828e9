/** Input and result of the readiness rules. Pure. */
import type { KubeObject } from "@flotilla/shared/kube/objects";
import * as z from "zod";

export type ObjectStatus =
  | { readonly kind: "current" }
  /** May become current without a change of the spec. */
  | { readonly kind: "inProgress"; readonly message: string }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "terminating"; readonly message: string };

type Fields = Readonly<Record<string, unknown>>;

const conditionSchema = z.object({
  type: z.string(),
  status: z.enum(["True", "False", "Unknown"]),
  reason: z.string().optional().catch(undefined),
  message: z.string().optional().catch(undefined),
});

/** A condition of any kind of object; many controllers set no reason or message. */
export type StatusCondition = Readonly<z.infer<typeof conditionSchema>>;

/** An object whose parts exist; the types of their fields are not checked. */
export interface RuleInput {
  readonly generation: number;
  readonly spec: Fields;
  readonly status: Fields;
  readonly conditions: readonly StatusCondition[];
}

export function toRuleInput(object: KubeObject): RuleInput {
  const status = fieldsOf(Reflect.get(object, "status"));
  const conditions = Array.isArray(status["conditions"]) ? status["conditions"] : [];
  return {
    generation: object.metadata.generation ?? 0,
    spec: fieldsOf(Reflect.get(object, "spec")),
    status,
    conditions: conditions.flatMap((condition: unknown) => {
      const { data } = conditionSchema.safeParse(condition);
      return data === undefined ? [] : [data];
    }),
  };
}

export function conditionOf({ conditions }: RuleInput, type: string): StatusCondition | undefined {
  return conditions.find((condition) => condition.type === type);
}

/** What a condition says, for people. */
export function sayingOf(condition: StatusCondition | undefined, otherwise: string): string {
  return condition?.message || condition?.reason || otherwise;
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
    ? (value as Fields) // Neither null nor an array.
    : {};
}

export function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}

/** Whether the controller has observed this generation; one that an object had before a restore may be higher. */
export function isObserved({ generation, status }: RuleInput): boolean {
  return numberOf(status, "observedGeneration") === generation;
}

/** Whether the controller says that it observed another generation; many say nothing. */
export function isStale(object: RuleInput): boolean {
  return typeof object.status["observedGeneration"] === "number" && !isObserved(object);
}

/** The message must not change with details that do not matter to people. */
export function inProgress(message: string): ObjectStatus {
  return { kind: "inProgress", message };
}

export const current: ObjectStatus = { kind: "current" };
