/**
 * Converts a zod schema to the structural schema of a CRD. zod's JSON Schema has parts that a CRD may not have (unions), and
 * lacks `x-kubernetes-preserve-unknown-fields`, without which unknown fields are dropped. Pure.
 */
import * as z from "zod";
import type { ValidationRule } from "../index.ts";

/** A node of a CRD's schema. */
export interface StructuralSchema {
  readonly type?: string;
  readonly description?: string;
  readonly format?: string;
  readonly nullable?: boolean;
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: StructuralSchema;
  readonly items?: StructuralSchema;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly pattern?: string;
  readonly "x-kubernetes-preserve-unknown-fields"?: true;
  readonly "x-kubernetes-int-or-string"?: true;
  readonly "x-kubernetes-list-type"?: "map";
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-map-type"?: "atomic";
  readonly "x-kubernetes-validations"?: readonly ValidationRule[];
}

/** The subset of JSON Schema that zod writes for our schemas. */
interface JsonSchema
  extends Omit<StructuralSchema, "properties" | "items" | "additionalProperties" | "type"> {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly additionalProperties?: JsonSchema | false;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
}

/** Keys that are copied. */
const plainKeys = [
  "description",
  "format",
  "nullable",
  "enum",
  "default",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "maxProperties",
  "pattern",
  "x-kubernetes-int-or-string",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-map-type",
  "x-kubernetes-validations",
] as const satisfies readonly (keyof StructuralSchema)[];

export function structuralSchema(schema: z.ZodType): StructuralSchema {
  // zod's type is all of JSON Schema; `JsonSchema` is the subset that our schemas use.
  return rewrite(z.toJSONSchema(schema, { target: "openapi-3.0", io: "input" }) as JsonSchema);
}

function rewrite(json: JsonSchema): StructuralSchema {
  const plain: StructuralSchema = Object.fromEntries(
    plainKeys.filter((key) => json[key] !== undefined).map((key) => [key, json[key]]),
  );
  if (json["x-kubernetes-int-or-string"] === true) return plain;
  const variants = json.oneOf ?? json.anyOf;
  if (variants !== undefined) return { ...plain, ...variantsAsOne(variants.map(rewrite)) };
  switch (json.type) {
    case "object":
      return { type: "object", ...plain, ...objectParts(json) };
    case "array":
      return {
        type: "array",
        ...plain,
        ...(json.items !== undefined && { items: rewrite(json.items) }),
      };
    case "integer":
      return { type: "integer", format: "int64", ...plain, ...limits(json) };
    case "string":
    case "boolean":
      return { type: json.type, ...plain };
    default:
      return { ...plain, "x-kubernetes-preserve-unknown-fields": true };
  }
}

function objectParts(json: JsonSchema): StructuralSchema {
  const { properties, required, additionalProperties: others } = json;
  const fields = Object.entries(properties ?? {});
  // An object whose parser rejects unknown fields keeps them as well: they are for a newer version.
  const isOpen = others === false || (others !== undefined && Object.keys(others).length === 0);
  const isMap = others !== undefined && others !== false && !isOpen;
  return {
    ...(fields.length > 0 && {
      properties: Object.fromEntries(fields.map(([name, field]) => [name, rewrite(field)])),
    }),
    ...(required !== undefined && required.length > 0 && { required }),
    ...(isMap && { additionalProperties: rewrite(others) }),
    ...(isOpen && { "x-kubernetes-preserve-unknown-fields": true }),
  };
}

/** Drops zod's bounds of every integer, which are the bounds of a double. */
function limits({ minimum, maximum }: JsonSchema): StructuralSchema {
  return {
    ...(minimum !== undefined && minimum > Number.MIN_SAFE_INTEGER && { minimum }),
    ...(maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER && { maximum }),
  };
}

/**
 * A union of objects as one object, because a CRD's schema has one type for a field. The discriminator becomes an enum; required
 * are the fields that all variants require.
 */
function variantsAsOne(variants: readonly StructuralSchema[]): StructuralSchema {
  const properties: Record<string, StructuralSchema> = {};
  for (const [name, field] of variants.flatMap((variant) =>
    Object.entries(variant.properties ?? {}),
  )) {
    const before = properties[name];
    properties[name] =
      before?.enum === undefined
        ? field
        : { ...before, enum: [...before.enum, ...(field.enum ?? [])] };
  }
  const names = Object.keys(properties);
  const required = names.filter((name) =>
    variants.every((variant) => variant.required?.includes(name) === true),
  );
  return { type: "object", properties, required, "x-kubernetes-preserve-unknown-fields": true };
}
