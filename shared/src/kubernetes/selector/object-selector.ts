/**
 * Selects objects as the `target` of a patch of kustomize does: regular expressions for the whole text, and selectors for labels and
 * annotations. The expressions are RE2's, as in kustomize, which match in linear time. Pure.
 */
import { RE2JS } from "re2js";
import { messageOf } from "../../runtime/errors/index.ts";
import {
  compileSize,
  matchSize,
  type PatternBudget,
  unitsOfCompiling,
} from "../../text/regex/index.ts";
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

/** Undefined: the budget has no room for it. */
export type ObjectSelector = (
  object: SelectableObject,
  budget: PatternBudget,
) => boolean | undefined;

const patternFields = ["group", "version", "kind", "name", "namespace"] as const;

const selectorFields = ["labelSelector", "annotationSelector"] as const;

const longestPattern = 512;
const longestSelector = 4_096;

/** In units of compiling: some 10 ms, before it is compiled. */
const maxCompileSize = 20_000;

/** What parsing one character of a selector takes, in units of matching. */
const unitsOfParsing = 10;

/** The limit of a compiled expression: each step may run for each of some 253 characters of a name. */
const maxSteps = 2_000;

/** What `objectSelector` takes at most, in units of a budget. */
export function selectorCost(target: ObjectTarget): number {
  const patterns = patternFields.map((field) => {
    const { length } = target[field] ?? "";
    return length > longestPattern ? 1 : Math.min(compileSize(target[field] ?? ""), maxCompileSize);
  });
  const selectors = selectorFields.map((field) => {
    const { length } = target[field] ?? "";
    return length > longestSelector ? 1 : length * unitsOfParsing;
  });
  return sum(patterns) * unitsOfCompiling + sum(selectors);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

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
  const texts: TextSelector[] = [];
  for (const field of selectorFields) {
    const text = target[field] ?? "";
    if (text.length > longestSelector)
      return `${field}: a selector may have ${longestSelector} characters`;
    const parsed = parseTextSelector(text);
    if (parsed === undefined) return `${field}: it is not a selector`;
    texts.push(parsed);
  }
  const [labels = () => true, annotations = () => true] = texts;
  const units = sum(selectorFields.map((field) => target[field]?.length ?? 0));
  return (object, budget) => {
    if (!budget.take(units)) return undefined;
    return matches({ patterns, labels, annotations, budget }, object);
  };
}

const tooLarge = "the regular expression is too large";

/** The expression for the whole text, or why it cannot be used. */
function compile(pattern: string): RE2JS | string {
  if (pattern.length > longestPattern)
    return `a regular expression may have ${longestPattern} characters`;
  if (compileSize(pattern) > maxCompileSize) return tooLarge;
  try {
    const compiled = RE2JS.compile(pattern);
    return compiled.programSize() > maxSteps ? tooLarge : compiled;
  } catch (thrown) {
    return messageOf(thrown);
  }
}

function matches(
  {
    patterns,
    labels,
    annotations,
    budget,
  }: {
    readonly patterns: ReadonlyMap<(typeof patternFields)[number], RE2JS>;
    readonly labels: TextSelector;
    readonly annotations: TextSelector;
    readonly budget: PatternBudget;
  },
  object: SelectableObject,
): boolean | undefined {
  const { apiVersion, kind, name, namespace = "" } = object;
  const [group, version] = apiVersion.includes("/") ? apiVersion.split("/", 2) : ["", apiVersion];
  const texts = { group: group ?? "", version: version ?? "", kind, name, namespace };
  for (const [field, pattern] of patterns) {
    if (!budget.take(matchSize(pattern, texts[field]))) return undefined;
    if (!pattern.testExact(texts[field])) return false;
  }
  return labels(object.labels ?? {}) && annotations(object.annotations ?? {});
}
