/**
 * Values in objects of the hub (`valuesFrom` of a HelmRelease): files under the values of the deployment, and values at a path
 * over them. The content has the objects as they were when it was made, or the hub sends them as referenced ones.
 */
import { formatObjectRef } from "@flotilla/shared/api";
import type { HubValuesSource } from "@flotilla/shared/content";
import { AppError } from "@flotilla/shared/errors";
import type { ReferencedObjectData } from "@flotilla/shared/referenced";
import { mergeValues, setValue, type Values } from "@flotilla/shared/values";
import { agentErrors } from "../../base/errors/index.ts";
import { type ReferencedDeps, type ReferenceUse, requireObject } from "../../state/index.ts";
import type { ValueLayer } from "./value-origins.ts";
import { missingKey, parseValuesSource, type ReadYaml, textUnder } from "./values-source.ts";

export interface HubValues {
  /** What the values are made from, for a digest. Empty if there are none. */
  readonly sources: readonly unknown[];
  /** The values of Secrets. */
  readonly secrets: readonly Values[];
  /** Values from files, which are under the deployment's own values. */
  readonly under: readonly ValueLayer[];
  /** Those at a path, which are over everything else. */
  readonly over: readonly ValueLayer[];
  /** Around the deployment's own values; undefined: none. Throws VALUES_SOURCE_INVALID. */
  around(own: Values | undefined): Values | undefined;
}

export interface HubValuesDeps extends ReferencedDeps {
  readonly readYaml: ReadYaml;
}

type Entry =
  | { readonly kind: "file"; readonly values: Values }
  | { readonly kind: "value"; readonly source: HubValuesSource; readonly text: string };

const use: ReferenceUse = { field: "valuesFrom", purpose: "which has values of the release" };

/** Throws REFERENCED_OBJECT_PENDING, REFERENCED_OBJECT_NOT_FOUND, VALUES_SOURCE_MISSING, VALUES_SOURCE_INVALID and LIMIT_EXCEEDED. */
export async function readHubValues(
  sources: readonly HubValuesSource[],
  deps: HubValuesDeps,
): Promise<HubValues> {
  const found: { readonly source: HubValuesSource; readonly entry: Entry }[] = [];
  for (const source of sources) {
    const object = objectOf(source, deps);
    if (object !== undefined)
      found.push({ source, entry: await entryOf(source, object, deps.readYaml) });
  }
  const entries = found.map(({ entry }) => entry);
  return {
    sources: entries,
    secrets: found.flatMap(({ source, entry }) =>
      source.kind === "Secret" ? secretValues(entry) : [],
    ),
    under: found.flatMap(({ source, entry }) =>
      entry.kind === "file" ? [{ origin: originOf(source), values: entry.values }] : [],
    ),
    over: found.flatMap(({ source, entry }) =>
      entry.kind === "value" ? [{ origin: originOf(source), values: withValue({}, entry) }] : [],
    ),
    around(own) {
      const files = entries.flatMap((entry) => (entry.kind === "file" ? [entry.values] : []));
      const layers = [...files, ...(own === undefined ? [] : [own])];
      const merged = layers.reduce<Values | undefined>(
        (under, over) => (under === undefined ? over : mergeValues(under, over)),
        undefined,
      );
      return entries.reduce(
        (values, entry) => (entry.kind === "value" ? withValue(values ?? {}, entry) : values),
        merged,
      );
    },
  };
}

/** Undefined: an optional object that the hub does not have, or does not have any more. */
function objectOf(source: HubValuesSource, deps: ReferencedDeps): ReferencedObjectData | undefined {
  if (source.object !== undefined) return source.object;
  const known = deps.referenced.get(source);
  const isAbsent = known !== undefined && known.digest === undefined;
  if (isAbsent && source.optional === true) return undefined;
  // As in Flux, a release is not upgraded with values that nobody can read any more.
  if (isAbsent && known.object !== undefined)
    throw new AppError(
      agentErrors.REFERENCED_OBJECT_NOT_FOUND,
      `${placeOf(source)}, which ${use.field} references, was deleted; the release stays as it is, and the agent continues as soon as the object exists again, or ${use.field} does not name it`,
    );
  return requireObject(source, use, deps);
}

async function entryOf(
  source: HubValuesSource,
  object: ReferencedObjectData,
  readYaml: ReadYaml,
): Promise<Entry> {
  const where = placeOf(source);
  if (source.targetPath === undefined)
    return { kind: "file", values: await parseValuesSource(source, object, { where, readYaml }) };
  const text = textUnder(source, object);
  if (text === undefined) throw missingKey(source, where);
  return { kind: "value", source, text };
}

function withValue(values: Values, { source, text }: Extract<Entry, { kind: "value" }>): Values {
  const { targetPath = "", literal, key } = source;
  const result = setValue(values, targetPath, text, { literal });
  if (result.kind === "set") return result.values;
  throw new AppError(
    agentErrors.VALUES_SOURCE_INVALID,
    `valuesFrom: key ${key} of ${placeOf(source)} cannot be set at targetPath ${targetPath}, ${result.problem}`,
  );
}

function secretValues(entry: Entry): readonly Values[] {
  if (entry.kind === "file") return [entry.values];
  const { source, text } = entry;
  // The text as a whole, and its parts as Helm gets them.
  const set = setValue({}, source.targetPath ?? "", text, { literal: source.literal });
  return [{ text }, ...(set.kind === "set" ? [set.values] : [])];
}

function originOf({ kind, name, key }: HubValuesSource): ValueLayer["origin"] {
  return { kind, name, key };
}

function placeOf(source: HubValuesSource): string {
  const { kind } = source;
  return `${kind} ${formatObjectRef(source).slice(kind.length + 1)} of the hub`;
}
