/**
 * Building blocks of the schemas of Flux's kinds. They are not nullable, as in Flux: the API server drops a null. Where Flux has
 * no limit, there is none: what Flux accepts is accepted.
 */
import * as z from "zod";
import { described, type FieldMeta, fields, plainText } from "../fleet/index.ts";

interface StringLimits {
  readonly min?: number;
  readonly max?: number;
  readonly pattern?: RegExp;
}

/** A text with the limits of Flux. */
export function string({ min, max, pattern }: StringLimits = {}) {
  let schema = z.string();
  if (min !== undefined) schema = schema.min(min);
  if (max !== undefined) schema = schema.max(max);
  return pattern === undefined ? schema : schema.regex(pattern);
}

/** The name of an object. */
export const objectName = string({ min: 1, max: 253 });

/** The name of a namespace. */
export const namespaceName = string({ min: 1, max: 63 });

/** A duration with the units ms, s, m and h: `30s`, `1h30m`. */
export const duration = string({ pattern: /^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$/ });

/** A duration without hours: `60s`, `5m`. */
export const shortDuration = string({ pattern: /^([0-9]+(\.[0-9]+)?(ms|s|m))+$/ });

/** A point in time, RFC 3339. */
export function timestamp(description: string, meta: FieldMeta = {}) {
  return described(z.string(), description, { format: "date-time", ...meta });
}

/** A list of texts. */
export function strings(
  description: string,
  { absent, maxItems }: { readonly absent?: string; readonly maxItems?: number } = {},
) {
  const list = z.array(z.string());
  return described(
    (maxItems === undefined ? list : list.max(maxItems)).optional(),
    description,
    absent === undefined ? {} : { "x-default-text": absent },
  );
}

/** A map from texts to texts. */
export function stringMap(description: string) {
  return described(z.record(z.string(), z.string()).optional(), description);
}

/** A count that grows, or a number without bounds. */
export function number(description: string, absent?: string) {
  return described(
    z.int().optional(),
    description,
    absent === undefined ? {} : { "x-default-text": absent },
  );
}

const localReferenceSchema = fields(
  { name: described(z.string(), "The object's name.") },
  "LocalObjectReference",
);

/** A reference to an object of the same namespace. */
export function localReference(description: string) {
  return described(localReferenceSchema.optional(), description);
}

/** A Boolean that is false when absent. */
export function flag(description: string, absent = "false") {
  return described(z.boolean().optional(), description, { "x-default-text": absent });
}

/** `suspend` of every kind. */
export const suspend = flag("Do nothing with the object until it is false again.");

/** The field of a status that records a handled request. */
export const lastHandledReconcileAt = plainText(
  "The value of the annotation `reconcile.fluxcd.io/requestedAt` that was handled last.",
);
