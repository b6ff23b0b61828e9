/**
 * Selects objects as the `target` of a patch of kustomize does: regular expressions for the whole text, and selectors for labels and
 * annotations. The expressions are RE2's, as in kustomize, which match in linear time. Pure.
 */
import { RE2JS } from "re2js";
import { messageOf } from "../errors/index.ts";
import { parseTextSelector, type TextSelector } from "./label-selector-text.ts";

/** Absent and empty fields match everything. */
export interface ObjectTarget {
  readonly group?: string | undefined;
  readonly version?: string | undefined;
  readonly kind?: string | undefined;
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly annotationSelector?: string | undefined;
}

export interface SelectableObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

export type ObjectSelector = (object: SelectableObject) => boolean;

const patternFields = ["group", "version", "kind", "name", "namespace"] as const;

const longestPattern = 512;

/** Of a compiled expression: each step may run for each of some 253 characters of a name. */
const maxSteps = 2_000;

/** Returns the selector, or the sentence that says what is wrong: `name: missing closing )`. */
export function objectSelector(target: ObjectTarget): ObjectSelector | string {
  const patterns = new Map<(typeof patternFields)[number], RE2JS>();
  for (const field of patternFields) {
    const pattern = target[field];
    if (!pattern) continue;
    const compiled = compile(pattern);
    if (typeof compiled === "string") return `${field}: ${compiled}`;
    patterns.set(field, compiled);
  }
  const labels = parseTextSelector(target.labelSelector ?? "");
  if (labels === undefined) return "labelSelector: it is no selector";
  const annotations = parseTextSelector(target.annotationSelector ?? "");
  if (annotations === undefined) return "annotationSelector: it is no selector";
  return (object) => matches({ patterns, labels, annotations }, object);
}

/** The expression for the whole text, or why it cannot be used. */
function compile(pattern: string): RE2JS | string {
  if (pattern.length > longestPattern)
    return `a regular expression may have ${longestPattern} characters`;
  try {
    const compiled = RE2JS.compile(pattern);
    return compiled.programSize() > maxSteps ? "the regular expression is too large" : compiled;
  } catch (thrown) {
    return messageOf(thrown);
  }
}

function matches(
  {
    patterns,
    labels,
    annotations,
  }: {
    readonly patterns: ReadonlyMap<(typeof patternFields)[number], RE2JS>;
    readonly labels: TextSelector;
    readonly annotations: TextSelector;
  },
  object: SelectableObject,
): boolean {
  const { apiVersion, kind, name, namespace = "" } = object;
  const [group, version] = apiVersion.includes("/") ? apiVersion.split("/", 2) : ["", apiVersion];
  const texts = { group: group ?? "", version: version ?? "", kind, name, namespace };
  return (
    [...patterns].every(([field, pattern]) => pattern.testExact(texts[field])) &&
    labels(object.labels ?? {}) &&
    annotations(object.annotations ?? {})
  );
}
