/**
 * Finds fields of an object that its schema does not have. They are kept, so that an object for another version survives, but
 * have no effect, so a misspelt field has to be reported. Pure.
 */
import * as z from "zod";
import { nearest } from "../../text/text/index.ts";

export interface UnknownField {
  /** From the root: `spec.targets[0].helm.vesion`. */
  readonly path: string;
  /** The field that was probably meant. */
  readonly meant?: string;
}

/** The limit of a name in a path, because a field may have any name. */
const longestName = 64;

/** More are not counted. */
const maxCounted = 1_000;

/** Fields and entries of lists that are looked at, about 15 ms; a thousand full targets have 30,000. */
const maxVisited = 50_000;

export interface UnknownFields {
  /** The first ones, in order. */
  readonly described: readonly UnknownField[];
  /** Also of those that are not described. */
  readonly count: number;
  /** Why there may be more: so many were found, or the value has more fields than are looked at; absent: these are all. */
  readonly endedBy?: "found" | "visited";
}

/**
 * The fields of `value` that `schema` does not have. `root` is the beginning of every path. A spec can have a hundred thousand of
 * them, and a suggestion reads the whole schema: only `mostDescribed` get one, and the walk ends early.
 */
export function unknownFields(
  schema: z.ZodObject,
  value: unknown,
  { root, mostDescribed }: { readonly root: string; readonly mostDescribed: number },
): UnknownFields {
  const described: UnknownField[] = [];
  const walk = createWalk(({ path, name, siblings }) => {
    if (described.length >= mostDescribed) return;
    const [near] = nearest(name, siblings);
    const meant = near === undefined ? pathOfField(schema, name, root) : `${path()}.${near}`;
    described.push({ path: `${path()}.${shown(name)}`, ...(meant !== undefined && { meant }) });
  });
  visitUnknown({ schema, value, path: () => root }, walk);
  const { count, endedBy } = walk;
  return { described, count, ...(endedBy !== undefined && { endedBy }) };
}

interface Found {
  readonly path: () => string;
  readonly name: string;
  readonly siblings: readonly string[];
}

/** What one walk has done, and whether it is to end. */
interface Walk {
  readonly count: number;
  readonly endedBy: UnknownFields["endedBy"];
  /** Before a field or an entry is looked at; false: the walk ends. */
  goOn(): boolean;
  found(field: Found): void;
}

function createWalk(onFound: (found: Found) => void): Walk {
  let [visited, count] = [0, 0];
  let endedBy: UnknownFields["endedBy"];
  return {
    get count() {
      return count;
    },
    get endedBy() {
      return endedBy;
    },
    goOn() {
      if (visited === maxVisited) endedBy ??= "visited";
      visited += 1;
      return endedBy === undefined;
    },
    found(field) {
      if (count === maxCounted) {
        endedBy = "found";
        return;
      }
      count += 1;
      onFound(field);
    },
  };
}

interface Visited {
  readonly schema: z.ZodType;
  readonly value: unknown;
  /** The path of the value; only made where it is needed. */
  readonly path: () => string;
}

function visitUnknown({ schema, value, path }: Visited, walk: Walk): void {
  const inner = bare(schema);
  if (typeof value !== "object" || value === null) return;
  if (inner instanceof z.ZodArray && Array.isArray(value)) {
    const element = bare(asZod(inner.element));
    if (!hasFields(element)) return;
    for (const [index, each] of value.entries()) {
      if (!walk.goOn()) return;
      visitUnknown({ schema: element, value: each, path: () => `${path()}[${index}]` }, walk);
    }
    return;
  }
  if (Array.isArray(value)) return;
  if (inner instanceof z.ZodRecord) {
    const entry = bare(asZod(inner.valueType));
    if (!hasFields(entry)) return;
    for (const [name, each] of Object.entries(value)) {
      if (!walk.goOn()) return;
      visitUnknown({ schema: entry, value: each, path: () => `${path()}.${shown(name)}` }, walk);
    }
    return;
  }
  if (!(inner instanceof z.ZodObject)) return;
  const { shape } = inner;
  const siblings = Object.keys(shape);
  for (const name of Object.keys(value)) {
    if (!walk.goOn()) return;
    if (Object.hasOwn(shape, name))
      visitUnknown(
        {
          schema: asZod(shape[name]),
          value: Reflect.get(value, name),
          path: () => `${path()}.${name}`,
        },
        walk,
      );
    else walk.found({ path, name, siblings });
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
