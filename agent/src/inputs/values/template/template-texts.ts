/** Finds the strings in values that are templates or name cluster labels, and replaces them. Pure. */
import { isRawNumber } from "@flotilla/shared/json";
import { TemplateError } from "./lex-template.ts";
import type { TextPlace } from "./reread.ts";

export type Values = Readonly<Record<string, unknown>>;

/** A string, with its path for messages. */
export interface TemplateText {
  readonly path: string;
  readonly text: string;
  readonly place: TextPlace;
}

/** Maps the strings of values. */
interface Walk {
  /** For strings that are not keys. */
  readonly text: (found: TemplateText) => unknown;
  readonly key: (found: TemplateText) => string;
}

/** Prefix of a string that names a label of the cluster. */
const labelPrefix = "global.fleet.clusterLabels.";

/** The label that a string names. */
export function labelIn(text: string): string | undefined {
  return text.startsWith(labelPrefix) ? text.slice(labelPrefix.length) : undefined;
}

/** All strings that name a label and, if `includeTemplates`, all templates. */
export function findTexts(
  values: Values,
  path: string,
  includeTemplates: boolean,
): readonly TemplateText[] {
  const found: TemplateText[] = [];
  walk(values, path, {
    text: (one) => found.push(one),
    key: (one) => {
      found.push(one);
      return one.text;
    },
  });
  return found.filter(
    ({ text, place }) =>
      (includeTemplates && text.includes("${")) || (place !== "key" && labelIn(text) !== undefined),
  );
}

/** The values with all strings mapped. Throws what `replace` throws, and a TemplateError. */
export function replaceTexts(
  values: Values,
  path: string,
  replace: (found: TemplateText) => unknown,
): Values {
  const replaced = walk(values, path, {
    text: replace,
    key: (one) => String(replace(one)),
  });
  return replaced as Values; // A map stays a map.
}

function walk(value: unknown, path: string, how: Walk): unknown {
  if (Array.isArray(value))
    return value.map((item, index) => walkInto(item, `${path}[${index}]`, "item", how));
  if (typeof value !== "object" || value === null || isRawNumber(value)) return value;
  const entries = Object.entries(value).map(([key, inner]) => {
    const innerPath = `${path}${/^[\w-]+$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`}`;
    return [
      how.key({ path: innerPath, text: key, place: "key" }),
      walkInto(inner, innerPath, "value", how),
    ] as const;
  });
  const replaced = Object.fromEntries(entries);
  if (Object.keys(replaced).length < entries.length)
    throw new TemplateError(`two keys of ${path} render to the same key`);
  return replaced;
}

function walkInto(value: unknown, path: string, place: "value" | "item", how: Walk): unknown {
  return typeof value === "string"
    ? how.text({ path, text: value, place })
    : walk(value, path, how);
}
