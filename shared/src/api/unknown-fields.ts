/**
 * Finds fields of an object that its schema does not have. They are kept, so that an object for another version survives, but
 * have no effect, so a misspelt field has to be reported. Pure.
 */
import * as z from "zod";
import { nearest } from "../text/index.ts";

export interface UnknownField {
  /** From the root: `spec.targets[0].helm.vesion`. */
  readonly path: string;
  /** The field that was probably meant. */
  readonly meant?: string;
}

/** The limit of a name in a path, because a field may have any name. */
const longestName = 64;

/** Every field of `value` that `schema` does not have, in order. `root` is the beginning of every path. */
export function unknownFields(
  schema: z.ZodObject,
  value: unknown,
  root: string,
): readonly UnknownField[] {
  return [...unknownIn(schema, value, root)].map(({ path, name, siblings }) => {
    const [near] = nearest(name, siblings.names);
    const meant = near === undefined ? pathOfField(schema, name, root) : `${siblings.path}.${near}`;
    return { path, ...(meant !== undefined && { meant }) };
  });
}

interface Found {
  readonly path: string;
  readonly name: string;
  readonly siblings: { readonly path: string; readonly names: readonly string[] };
}

function* unknownIn(schema: z.ZodType, value: unknown, path: string): Generator<Found> {
  const inner = bare(schema);
  if (inner instanceof z.ZodArray && Array.isArray(value)) {
    for (const [index, element] of value.entries())
      yield* unknownIn(asZod(inner.element), element, `${path}[${index}]`);
    return;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return;
  if (inner instanceof z.ZodRecord) {
    for (const [name, entry] of Object.entries(value))
      yield* unknownIn(asZod(inner.valueType), entry, `${path}.${shown(name)}`);
    return;
  }
  if (!(inner instanceof z.ZodObject)) return;
  const names = Object.keys(inner.shape);
  for (const [name, field] of Object.entries(value)) {
    if (Object.hasOwn(inner.shape, name))
      yield* unknownIn(asZod(inner.shape[name]), field, `${path}.${name}`);
    else yield { path: `${path}.${shown(name)}`, name, siblings: { path, names } };
  }
}

/** The path of a field of this name elsewhere in the schema: `values` is below `helm`. */
function pathOfField(schema: z.ZodObject, name: string, root: string): string | undefined {
  let level: readonly (readonly [path: string, schema: z.ZodObject])[] = [[root, schema]];
  while (level.length > 0) {
    const below: (readonly [string, z.ZodObject])[] = [];
    for (const [path, object] of level) {
      for (const [field, type] of Object.entries<unknown>(object.shape)) {
        if (field.toLowerCase() === name.toLowerCase()) return `${path}.${field}`;
        const inner = bare(asZod(type));
        if (inner instanceof z.ZodObject) below.push([`${path}.${field}`, inner]);
        const element = inner instanceof z.ZodArray ? bare(asZod(inner.element)) : undefined;
        if (element instanceof z.ZodObject) below.push([`${path}.${field}[]`, element]);
      }
    }
    level = below;
  }
  return undefined;
}

function bare(schema: z.ZodType): z.ZodType {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodNullable
    ? bare(asZod(schema.unwrap()))
    : schema;
}

/** zod types nested schemas as their common core; all our schemas are full ones. */
function asZod(schema: unknown): z.ZodType {
  return schema instanceof z.ZodType ? schema : z.unknown();
}

function shown(name: string): string {
  return name.length > longestName ? `${name.slice(0, longestName)}…` : name;
}
