/**
 * What a chart generates with each rendering: random passwords, names and times. Two renderings of the same chart with the same
 * values are compared; two within one second have the same times, so texts that have the time of the rendering count as well. Pure.
 */
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { changedPointers, isFields, pointerOf } from "../../observe/index.ts";

/** An object of a rendering, and of what in it the next one would have something else. */
export interface RenderedObject {
  readonly document: KubeObject;
  /** JSON pointers. */
  readonly generated: readonly string[];
  /** The next rendering has none of this name. */
  readonly hasGeneratedName: boolean;
}

/** When the renderings began and ended, ms since 1970. */
export interface RenderedAt {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Beyond this the object is generated as a whole. */
const mostPointers = 500;

/** Each object once: Helm applies the last of several with one name. In the order of Helm. */
export function renderedObjects(
  first: readonly KubeObject[],
  second: readonly KubeObject[],
  at: RenderedAt,
): readonly RenderedObject[] {
  const [own, others] = [byName(first), byName(second)];
  const spare = new Map<string, KubeObject[]>();
  for (const [key, document] of others)
    if (!own.has(key))
      spare.set(kindOf(document), [...(spare.get(kindOf(document)) ?? []), document]);
  return [...own].map(([key, document]) => {
    const same = others.get(key);
    const other = same ?? spare.get(kindOf(document))?.shift();
    return {
      document,
      generated: generatedIn(document, other, at),
      hasGeneratedName: same === undefined,
    };
  });
}

function generatedIn(
  document: KubeObject,
  other: KubeObject | undefined,
  at: RenderedAt,
): readonly string[] {
  const differing =
    other === undefined
      ? []
      : changedPointers(document, other, { ignored: [], most: mostPointers });
  const times = clockPointers(document, at);
  const all = [...new Set([...differing, ...times].map(asStored))].toSorted();
  return all.length >= mostPointers ? [""] : all;
}

/** The API server keeps `stringData` of a Secret with its `data`; no other kind has such a field at the top. */
function asStored(pointer: string): string {
  return pointer.replace(/^\/stringData(?=\/|$)/, "/data");
}

function byName(documents: readonly KubeObject[]): ReadonlyMap<string, KubeObject> {
  const found = new Map<string, KubeObject>();
  for (const document of documents) {
    const { name, namespace = "" } = document.metadata;
    found.set(`${kindOf(document)} ${namespace} ${name}`, document);
  }
  return found;
}

function kindOf({ apiVersion = "", kind = "", metadata }: KubeObject): string {
  return `${apiVersion} ${kind} ${metadata.namespace ?? ""}`;
}

/** Longer texts are not searched. */
const mostCharacters = 8 * 1024;
/** The clocks of the agent and of Helm are one; what a template adds to it is not looked for. */
const toleranceMs = 1_500;

const seconds = /(?<![\d.])\d{10}(?:\d{3})?(?![\d.])/g;
const compact = /(?<!\d)(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(?!\d)/g;
const dated = /(\d{4}-\d\d-\d\d)[T _](\d\d:\d\d:\d\d)(?:\.\d+)? ?(Z|UTC|[+-]\d\d:?\d\d)?/g;

/** The pointers of texts and numbers that have the time of the rendering. */
export function clockPointers(document: KubeObject, at: RenderedAt): readonly string[] {
  const found: string[] = [];
  function search(value: unknown, segments: readonly (string | number)[]): void {
    if (found.length >= mostPointers) return;
    if (Array.isArray(value))
      for (const [index, item] of value.entries()) search(item, [...segments, index]);
    else if (isFields(value))
      for (const [key, item] of Object.entries(value)) search(item, [...segments, key]);
    else if (typeof value === "string" || typeof value === "number")
      if (hasTime(String(value), at)) found.push(pointerOf(segments));
  }
  search(document, []);
  return found;
}

function hasTime(text: string, { fromMs, toMs }: RenderedAt): boolean {
  if (text.length > mostCharacters || !/\d{4}/.test(text)) return false;
  return timesIn(text).some((ms) => ms >= fromMs - toleranceMs && ms <= toMs + toleranceMs);
}

function timesIn(text: string): readonly number[] {
  const numbers = [...text.matchAll(seconds)].map(([digits]) =>
    digits.length === 13 ? Number(digits) : Number(digits) * 1_000,
  );
  const compacted = [...text.matchAll(compact)].map(([, year, month, day, hour, minute, second]) =>
    Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`),
  );
  const written = [...text.matchAll(dated)].map(([, date, time, zone = "Z"]) => {
    const offset = zone === "UTC" ? "Z" : zone.replace(/^([+-]\d\d)(\d\d)$/, "$1:$2");
    return Date.parse(`${date}T${time}${offset}`);
  });
  return [...numbers, ...compacted, ...written];
}
