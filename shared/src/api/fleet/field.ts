/**
 * Building blocks of the API's schemas. The types, the CRDs and the reference page are generated from these schemas, so every
 * field has a description. Unknown fields are kept: an object for a newer version survives reading and writing.
 */
import * as z from "zod";
import { durationRule } from "./validation-rules.ts";

/** The type of a schema: deeply readonly, and without unknown fields. */
export type Typed<S extends z.ZodType> = Frozen<z.infer<S>>;

type Frozen<T> = T extends readonly (infer E)[]
  ? readonly Frozen<E>[]
  : T extends object
    ? FrozenObject<T>
    : T;

type FrozenObject<T> = [NamedKeys<T>] extends [never]
  ? { readonly [K in keyof T]: Frozen<T[K]> }
  : { readonly [K in keyof T as string extends K ? never : K]: Frozen<T[K]> };

type NamedKeys<T> = keyof { [K in keyof T as string extends K ? never : K]: true };

/** Metadata of a field that JSON Schema does not have. */
export interface FieldMeta {
  /** The meaning of an absent field, for people. It is not written into objects. */
  readonly "x-default-text"?: string;
  /** Any key of a CRD's schema, such as `x-kubernetes-validations`. */
  readonly [key: `x-kubernetes-${string}`]: unknown;
  readonly format?: "date-time";
  /** For what may be a number or a text: the form of a text. */
  readonly pattern?: string;
  /** For maps. */
  readonly maxProperties?: number;
}

/** An object with these fields that keeps others. One with a title has its own section on the reference page. */
export function fields<S extends z.ZodRawShape>(
  shape: S,
  title?: string,
): z.ZodObject<S, z.core.$loose> {
  const schema = z.looseObject(shape);
  return title === undefined ? schema : schema.meta({ title });
}

/** The schema with a description and other metadata. */
export function described<S extends z.ZodType>(
  schema: S,
  description: string,
  meta: FieldMeta = {},
): S {
  return schema.meta({ description, ...meta });
}

/** A Boolean that is false when absent. */
export function flag(description: string, absent = "false") {
  return described(z.boolean().optional(), description, { "x-default-text": absent });
}

interface TextOptions {
  readonly maxLength?: number;
  /** The meaning of an absent field, for people. */
  readonly absent?: string;
}

/** A text; absent, null and "" mean the same. */
export function text(description: string, { maxLength, absent }: TextOptions = {}) {
  const schema = maxLength === undefined ? z.string() : z.string().max(maxLength);
  return described(schema.nullish(), description, absentText(absent));
}

/** A text that is never null: in a status, or deep in a spec. */
export function plainText(description: string) {
  return described(z.string().optional(), description);
}

/** A Boolean without a default. */
export function plainFlag(description: string) {
  return described(z.boolean().optional(), description);
}

/** A whole number. */
export function integer(description: string, { absent }: { readonly absent?: string } = {}) {
  return described(z.int().optional(), description, absentText(absent));
}

/** A map from texts to texts, such as labels. */
export function texts(description: string) {
  return described(z.record(z.string(), z.string()).nullish(), description);
}

/** A list of texts. */
export function list(description: string) {
  return described(z.array(z.string()).nullish(), description);
}

/** A point in time, RFC 3339. */
export function time(description: string) {
  return described(z.string().nullish(), description, { format: "date-time" });
}

/** A duration as Go writes it, without a sign: `5m`, `1h30m`, `0`. */
export const duration = z
  .string()
  .max(32)
  .meta({ "x-kubernetes-validations": [durationRule] });

/** A count, or a share such as `10%`. */
export function countOrShare(description: string, { absent }: { readonly absent?: string } = {}) {
  return described(z.union([z.int(), z.string()]).nullish(), description, {
    "x-kubernetes-int-or-string": true,
    ...absentText(absent),
  });
}

/** A map of any content, which is kept unchanged. */
export function freeForm(description: string) {
  return described(z.record(z.string(), z.unknown()).nullish(), description);
}

function absentText(absent: string | undefined): FieldMeta {
  return absent === undefined ? {} : { "x-default-text": absent };
}
