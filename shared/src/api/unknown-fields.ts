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

export interface UnknownFields {
  /** The first ones, in order. */
  readonly described: readonly UnknownField[];
  /** Of all, also of those that are not described. */
  readonly count: number;
}

/**
 * The fields of `value` that `schema` does not have. `root` is the beginning of every path. A spec can have a hundred thousand of
 * them, and a suggestion reads the whole schema: only `mostDescribed` get one.
 */
export function unknownFields(
  schema: z.ZodObject,
  value: unknown,
  { root, mostDescribed }: { readonly root: string; readonly mostDescribed: number },
): UnknownFields {
  const described: UnknownField[] = [];
  let count = 0;
  visitUnknown({ schema, value, path: () => root }, ({ path, name, siblings }) => {
    count += 1;
    if (described.length >= mostDescribed) return;
    const [near] = nearest(name, siblings);
    const meant = near === undefined ? pathOfField(schema, name, root) : `${path()}.${near}`;
    described.push({ path: `${path()}.${shown(name)}`, ...(meant !== undefined && { meant }) });
  });
  return { described, count };
}

interface Visited {
  readonly schema: z.ZodType;
  readonly value: unknown;
  /** Of the value; only made where it is needed. */
  readonly path: () => string;
}

interface Found {
  readonly path: () => string;
  readonly name: string;
  readonly siblings: readonly string[];
}

function visitUnknown({ schema, value, path }: Visited, onFound: (found: Found) => void): void {
  const inner = bare(schema);
  if (typeof value !== "object" || value === null) return;
  if (inner instanceof z.ZodArray && Array.isArray(value)) {
    const element = bare(asZod(inner.element));
    if (!hasFields(element)) return;
    for (const [index, each] of value.entries())
      visitUnknown({ schema: element, value: each, path: () => `${path()}[${index}]` }, onFound);
    return;
  }
  if (Array.isArray(value)) return;
  if (inner instanceof z.ZodRecord) {
    const entry = bare(asZod(inner.valueType));
    if (!hasFields(entry)) return;
    for (const [name, each] of Object.entries(value))
      visitUnknown({ schema: entry, value: each, path: () => `${path()}.${shown(name)}` }, onFound);
    return;
  }
  if (!(inner instanceof z.ZodObject)) return;
  const { shape } = inner;
  const siblings = Object.keys(shape);
  for (const name of Object.keys(value)) {
    if (Object.hasOwn(shape, name))
      visitUnknown(
        {
          schema: asZod(shape[name]),
          value: Reflect.get(value, name),
          path: () => `${path()}.${name}`,
        },
        onFound,
      );
    else onFound({ path, name, siblings });
  }
}

/** Whether there can be unknown fields in its values. */
function hasFields(schema: z.ZodType): boolean {
  return (
    schema instanceof z.ZodObject || schema instanceof z.ZodArray || schema instanceof z.ZodRecord
  );
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
